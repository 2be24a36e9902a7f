import { createHash } from 'node:crypto';

/** The sampling interval, like metrics-server's. */
export const WINDOW_MS = 15_000;

const fraction = (seed: string): number => createHash('sha1').update(seed).digest().readUInt32BE(0) / 2 ** 32;

/** The average load of an object, from 0.05 to 0.55. */
export const loadLevel = (id: string): number => 0.05 + 0.5 * fraction(`${id} level`) ** 2;

/**
 * A load between 0 and 1 that depends on the object and the time alone: a level of its own, a slow wave and a little
 * noise. Two requests within a window get the same result.
 */
export function pseudoLoad(id: string, nowMs: number): number {
  const window = Math.floor(nowMs / WINDOW_MS);
  const level = loadLevel(id);
  const wave = 0.3 * level * Math.sin(window / 20 + 6.28 * fraction(`${id} phase`));
  const noise = 0.1 * level * (fraction(`${id} ${window}`) - 0.5);
  return Math.min(1, Math.max(0.01, level + wave + noise));
}

/** The length of the wave in {@link loadSum}, in seconds per radian, like the wave of {@link pseudoLoad}. */
const WAVE_S = (20 * WINDOW_MS) / 1000;

/**
 * The sum of a load with the level and the wave of {@link pseudoLoad} over some seconds, without its noise. It never
 * shrinks with the time.
 */
export function loadSum(id: string, seconds: number): number {
  const level = loadLevel(id);
  const phase = 6.28 * fraction(`${id} phase`);
  return level * (seconds + 0.3 * WAVE_S * (Math.cos(phase) - Math.cos(seconds / WAVE_S + phase)));
}
