/** One value of a series. */
export interface Point {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Series {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly points: readonly Point[];
}

/** The media type that Prometheus' library for Go answers with. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';

/** The text format of Prometheus, as its library for Go writes it. Series without values are left out. */
export const exposition = (series: readonly Series[]): string =>
  series
    .filter(({ points }) => points.length > 0)
    .map(({ name, help, type, points }) => {
      const head = `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n`;
      return head + points.map(({ labels, value }) => `${name}${labelsText(labels)} ${goNumber(value)}\n`).join('');
    })
    .join('');

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

function labelsText(labels: Point['labels']): string {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  if (pairs.length === 0) return '';
  return `{${pairs.map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`).join(',')}}`;
}

/** Like the library: with an exponent of at least two digits from a million on. */
function goNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0 || (Math.abs(value) < 1e6 && Math.abs(value) >= 1e-4)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}
