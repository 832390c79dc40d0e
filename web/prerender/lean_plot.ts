// Observable Plot without what no figure here draws: maps, legends (a line's name stands at its end) and named colour schemes
// (the colours are figure.css's). A third less to send. Each module is replaced by one that does what the original does when
// nothing is asked of it, and refuses when something is.
import type { Plugin } from 'vite';

const refuse = (what: string) => `() => { throw new Error('this build of Plot has no ${what}'); }`;

const replacements: [RegExp, string][] = [
  [/@observablehq\/plot\/src\/projection\.js$/, `
    export const createProjection = () => undefined;
    export const projectionAspectRatio = () => undefined;
    export const xyProjection = () => undefined;
    export const hasProjection = ({ projection } = {}) => projection != null && project();
    export const project = ${refuse('map projections')};
    export { project as applyPosition, project as getGeometryChannels };`],
  [/node_modules\/d3-geo\/dist\/d3-geo\.mjs$/, `
    const refuse = ${refuse('map projections')};
    export { refuse as geoPath, refuse as geoCentroid, refuse as geoGraticule10 };`],
  [/@observablehq\/plot\/src\/legends\.js$/, `
    export const legend = ${refuse('legends')};
    export const createLegends = (scales, context, options) => (Object.values(options).some((scale) => scale?.legend) ? legend() : []);
    export const exposeLegends = () => legend;`],
  [/@observablehq\/plot\/src\/scales\/schemes\.js$/, `
    const refuse = ${refuse('named colour schemes')};
    export const isCategoricalScheme = () => false;
    export const isDivergingScheme = () => false;
    export { refuse as ordinalScheme, refuse as ordinalRange, refuse as maybeBooleanRange, refuse as quantitativeScheme };`],
];

export function leanPlot(): Plugin {
  const met = new Set<RegExp>();
  return {
    name: 'linearmem-lean-plot',
    apply: 'build',
    transform: {
      filter: { id: replacements.map(([path]) => path) },
      handler(_code, id) {
        const [path, code] = replacements.find(([candidate]) => candidate.test(id))!;
        met.add(path);
        return { code, map: null };
      },
    },
    buildEnd(problem) {
      const missed = replacements.filter(([path]) => !met.has(path));
      if (!problem && missed.length > 0) this.error(`Plot no longer has ${missed.map(([path]) => path).join(', ')}`);
    },
  };
}
