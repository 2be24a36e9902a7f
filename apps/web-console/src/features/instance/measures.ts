import type { UsageView } from '@headgate/api-contracts';
import { readableBytes } from '../../shared/quantity/quantity.js';

/** A sample, or the averages and maxima of a step. */
export interface UsagePoint extends UsageView {
  /** Milliseconds since the epoch. */
  readonly t: number;
  readonly max?: UsageView;
}

export interface Measure {
  readonly label: string;
  readonly of: (usage: UsageView) => number | null | undefined;
  readonly format: (value: number) => string;
}

const perSecond = (bytes: number): string => `${readableBytes(bytes)}/s`;

/** The columns of the table, and the lines of the charts. */
export const MEASURES = {
  cpu: { label: 'CPU', of: ({ cpu }) => cpu, format: (millicores) => `${(millicores / 1000).toFixed(2)} CPUs` },
  memory: { label: 'Memory', of: ({ memory }) => memory?.usedBytes, format: readableBytes },
  read: { label: 'Read', of: ({ disk }) => disk?.readBytesPerSecond, format: perSecond },
  write: { label: 'Write', of: ({ disk }) => disk?.writeBytesPerSecond, format: perSecond },
  receive: { label: 'Receive', of: ({ network }) => network?.receiveBytesPerSecond, format: perSecond },
  transmit: { label: 'Transmit', of: ({ network }) => network?.transmitBytesPerSecond, format: perSecond },
} as const satisfies Readonly<Record<string, Measure>>;
