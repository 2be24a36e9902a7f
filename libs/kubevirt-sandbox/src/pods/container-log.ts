import type { Container, Pod } from '../types/core-kinds.js';

/** The interval between the lines of a container that runs. */
export const HEARTBEAT_MS = 10_000;
/** A kubelet rotates logs: the lines before these are gone. */
const MAX_HEARTBEATS = 2_000;

export interface LogLine {
  time: string;
  line: string;
}

/**
 * The output of a container that runs: its start, its command, and a line every 10 seconds. It says that it is
 * simulated.
 */
export function containerLog(pod: Pod, container: Container, nowMs: number): LogLine[] {
  const startedMs = startOf(pod, container) ?? nowMs;
  const count = Math.max(0, Math.floor((nowMs - startedMs) / HEARTBEAT_MS));
  const first = Math.max(1, count - MAX_HEARTBEATS + 1);
  const beats = Array.from({ length: count - first + 1 }, (_none, index) =>
    heartbeatAt(startedMs + (first + index) * HEARTBEAT_MS),
  );
  return first === 1 ? [...startLines(pod, container, startedMs), ...beats] : beats;
}

/** The output of the run before the last restart; undefined if there was none. */
export function previousLog(pod: Pod, container: Container): LogLine[] | undefined {
  const ended = pod.status?.containerStatuses?.find(({ name }) => name === container.name)?.lastState?.terminated;
  if (!ended) return undefined;
  const time = ended.finishedAt ?? pod.status?.startTime ?? '';
  const lines = startLines(pod, container, Date.parse(ended.startedAt ?? time));
  return [...lines, { time, line: `ended with exit code ${ended.exitCode ?? 0} (simulated)` }];
}

/** The time until the next line of a container that runs. */
export function untilHeartbeat(pod: Pod, container: Container, nowMs: number): number {
  const sinceStart = nowMs - (startOf(pod, container) ?? nowMs);
  return HEARTBEAT_MS - (((sinceStart % HEARTBEAT_MS) + HEARTBEAT_MS) % HEARTBEAT_MS);
}

export function heartbeatAt(timeMs: number): LogLine {
  const time = new Date(timeMs).toISOString();
  return { time, line: `${time} still running (simulated)` };
}

function startOf({ status }: Pod, container: Container): number | undefined {
  const running = status?.containerStatuses?.find(({ name }) => name === container.name)?.state.running;
  const text = running?.startedAt ?? status?.startTime;
  return text === undefined ? undefined : Date.parse(text);
}

function startLines({ metadata }: Pod, { name, image, command = [], args = [] }: Container, timeMs: number): LogLine[] {
  const time = new Date(timeMs).toISOString();
  const lines = [
    `simulated container ${name} of pod ${metadata.namespace}/${metadata.name}`,
    `image ${image}`,
    `running ${[...command, ...args].join(' ') || "the image's own command"}`,
    'ready',
  ];
  return lines.flatMap((line) => line.split('\n')).map((line) => ({ time, line }));
}
