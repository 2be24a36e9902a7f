import { readableCpus } from '../../shared/texts/formats.js';
import { t } from '@lingui/core/macro';
import type { UsageView } from '@headgate/api-contracts';
import { readableBytes } from '../../shared/quantity/quantity.js';
import { perLanguage } from '../../shared/texts/per-language.js';

/** A sample, or the averages and maxima of a step. */
export interface UsagePoint extends UsageView {
  /** Milliseconds since the epoch. */
  readonly t: number;
  readonly max?: UsageView;
  /** Whether it was invented for the past of a simulated cluster. */
  readonly simulated?: boolean;
}

export interface Measure {
  readonly label: string;
  readonly of: (usage: UsageView) => number | null | undefined;
  readonly format: (value: number) => string;
}

const perSecond = (bytes: number): string => `${readableBytes(bytes)}/s`;

/** The columns of the table, and the lines of the charts. */
export const measures = perLanguage(
  () =>
    ({
      cpu: { label: 'CPU', of: ({ cpu }) => cpu, format: (millicores) => `${readableCpus(millicores)} CPUs` },
      memory: { label: t`Memory`, of: ({ memory }) => memory?.usedBytes, format: readableBytes },
      read: { label: t`Read`, of: ({ disk }) => disk?.readBytesPerSecond, format: perSecond },
      write: { label: t`Write`, of: ({ disk }) => disk?.writeBytesPerSecond, format: perSecond },
      receive: { label: t`Receive`, of: ({ network }) => network?.receiveBytesPerSecond, format: perSecond },
      transmit: { label: t`Transmit`, of: ({ network }) => network?.transmitBytesPerSecond, format: perSecond },
    }) as const satisfies Readonly<Record<string, Measure>>,
);
