import { ERROR_CODES } from '@headgate/domain-contracts';
import { createSeries } from '../exposition/series.js';
import { STATUS } from '../platform/error-status.js';

const row = (...cells: string[]): string => `| ${cells.join(' | ')} |`;

/** The error codes with their statuses, as a page. */
export const errorCodesPage = (): string =>
  [
    '# Error codes',
    '',
    'The body of every error is `{error, code, details?}`. Generated from the code; do not edit.',
    '',
    row('code', 'status'),
    row('---', '---'),
    ...ERROR_CODES.map((code) => row(`\`${code}\``, String(STATUS[code]))),
    '',
  ].join('\n');

/** The series at /metrics with their labels and help texts, as a page. */
export async function metricsPage(): Promise<string> {
  const metrics = (await createSeries().registry.getMetricsAsJSON()) as unknown as {
    name: string;
    help: string;
    type: string;
  }[];
  const labels = new Map(
    Object.values(createSeries()).flatMap((series) =>
      'labelNames' in series
        ? [[String((series as { name?: string }).name), (series as unknown as { labelNames: string[] }).labelNames]]
        : [],
    ),
  );
  return [
    '# Metrics',
    '',
    'The series at `/metrics` when the service was started with `--metrics`, besides those of the process that prom-client',
    'collects. Generated from the code; do not edit.',
    '',
    row('series', 'type', 'labels', 'meaning'),
    row('---', '---', '---', '---'),
    ...metrics.map(({ name, help, type }) =>
      row(`\`${name}\``, String(type), (labels.get(name) ?? []).map((label) => `\`${label}\``).join(', '), help),
    ),
    '',
  ].join('\n');
}
