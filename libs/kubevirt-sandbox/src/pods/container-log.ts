import type { Container, Pod } from '../types/core-kinds.js';

/** The interval between the lines of a followed log. */
export const HEARTBEAT_MS = 10_000;

export interface LogLine {
  time: string;
  line: string;
}

/** The output of a container: its start and its command. */
export function containerLog(
  { metadata, status }: Pod,
  { name, image, command = [], args = [] }: Container,
  nowMs: number,
): LogLine[] {
  const time = status?.startTime ?? new Date(nowMs).toISOString();
  const lines = [
    `simulated container ${name} of pod ${metadata.namespace}/${metadata.name}`,
    `image ${image}`,
    `running ${[...command, ...args].join(' ') || "the image's own command"}`,
    'ready',
  ];
  return lines.map((line) => ({ time, line }));
}

export const heartbeatLine = (nowMs: number): string => `${new Date(nowMs).toISOString()} still running (simulated)`;
