import { ERROR_CODES, meetingOf, OPERATION_NAMES, ruleOf, type Meeting } from '@headgate/domain-contracts';
import { createSeries } from '../exposition/series.js';
import { STATUS } from '../platform/error-status.js';

/** A row of a table in Markdown. */
export const row = (...cells: string[]): string => `| ${cells.join(' | ')} |`;

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

const MEETINGS: Readonly<Record<Meeting, string>> = { both: 'both', waits: 'waits', refused: '409' };

/** What happens when two operations meet on one instance, as a page. */
export const operationsPage = (): string =>
  [
    '# Operations that meet',
    '',
    'What happens to an operation (column) that is requested while another one (row) uses the same instance, image or name:',
    '**both** are carried out at the same time; it **waits** until the other one has ended, and is refused after ten seconds;',
    'or it is refused with **409** `BUSY`, which names the task. Generated from the code; do not edit.',
    '',
    row('row, then column', ...OPERATION_NAMES.map((name) => `\`${name}\``)),
    row('---', ...OPERATION_NAMES.map(() => '---')),
    ...OPERATION_NAMES.map((first) =>
      row(`\`${first}\``, ...OPERATION_NAMES.map((second) => MEETINGS[meetingOf(first, second)])),
    ),
    '',
    'How each operation uses the instance or image:',
    '',
    row('operation', 'use', 'lasts', 'also takes a name'),
    row('---', '---', '---', '---'),
    ...OPERATION_NAMES.map((name) => {
      const { uses, lasts, takesName } = ruleOf(name);
      return row(
        `\`${name}\``,
        uses,
        lasts === 'long' ? 'as a task or a stream' : 'until the response',
        takesName ? 'yes' : '',
      );
    }),
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
