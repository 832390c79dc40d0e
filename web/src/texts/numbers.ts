// How numbers are written: at most four significant digits on the page, every digit on hover and in exports. Whole numbers
// are written out, thousands apart by a thin space; bytes count in powers of two.
const thin = '\u202f';
const minus = '\u2212';

export function full(x: number): string {
  return Number.isInteger(x) && Math.abs(x) < 1e15 ? x.toFixed(0) : String(x);
}

export function short(x: number, digits = 4): string {
  if (Number.isNaN(x)) return 'NaN';
  if (!Number.isFinite(x)) return x > 0 ? '∞' : `${minus}∞`;
  if (Number.isInteger(x) && Math.abs(x) < 1e12) return grouped(x.toFixed(0));
  const size = Math.abs(x);
  if (size < 1e-3 || size >= 1e6) return trimmed(x.toExponential(digits - 1)).replace(/-/g, minus).replace('e+', 'e');
  return grouped(String(Number(x.toPrecision(digits))));
}

// Errors and tolerances: two digits say enough.
export function magnitude(x: number): string {
  return short(x, 2);
}

export function milliseconds(x: number): string {
  if (x < 0.05) return `< 0.1${thin}ms`;
  if (x < 1000) return `${x < 10 ? x.toFixed(1) : x.toFixed(0)}${thin}ms`;
  return `${(x / 1000).toFixed(2)}${thin}s`;
}

export function bytes(x: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  let unit = 0;
  while (Math.abs(x) >= 1024 && unit < units.length - 1) {
    x /= 1024;
    unit += 1;
  }
  return `${short(x)}${thin}${units[unit]}`;
}

function trimmed(text: string): string {
  const [number, exponent] = text.split('e');
  const kept = number!.includes('.') ? number!.replace(/\.?0+$/, '') : number!;
  return exponent === undefined ? kept : `${kept}e${exponent}`;
}

function grouped(text: string): string {
  const [whole, fraction] = text.split('.');
  const digits = whole!.replace(/^-/, '');
  const apart = digits.length > 4 ? digits.replace(/\B(?=(\d{3})+$)/g, thin) : digits;
  return (text.startsWith('-') ? minus : '') + apart + (fraction === undefined ? '' : `.${fraction}`);
}
