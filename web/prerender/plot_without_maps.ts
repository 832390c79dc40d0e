// Observable Plot without map projections and legends: a fifth of its weight, and no figure here draws either (a line's name
// stands at its end). Both modules are replaced by ones that do what the originals do when nothing is asked of them.
import type { Plugin } from 'vite';

const projection = `
export const createProjection = () => undefined;
export const hasProjection = ({ projection } = {}) => {
  if (projection != null) throw new Error('this build of Plot has no map projections');
  return false;
};
export const projectionAspectRatio = () => undefined;
export const xyProjection = () => undefined;
export const project = () => { throw new Error('this build of Plot has no map projections'); };
export const getGeometryChannels = project;
export const applyPosition = project;
`;

const legends = `
export const createLegends = (scales, context, options) => {
  if (Object.values(options).some((scale) => scale?.legend)) throw new Error('this build of Plot has no legends');
  return [];
};
export const exposeLegends = () => () => undefined;
export const legend = () => { throw new Error('this build of Plot has no legends'); };
`;

export function plotWithoutMaps(): Plugin {
  return {
    name: 'linearmem-plot-without-maps',
    apply: 'build',
    transform: {
      filter: { id: /@observablehq\/plot\/src\/(projection|legends)\.js$/ },
      handler: (_code, id) => ({ code: id.endsWith('projection.js') ? projection : legends, map: null }),
    },
  };
}
