import { badRequest } from '@headgate/kube-sandbox';
import type { LogLine } from './container-log.js';

/** The parameters of `pods/log`. Source: PodLogOptions of core/v1. */
export interface LogOptions {
  follows: boolean;
  isPrevious: boolean;
  stamped: boolean;
  sinceMs?: number;
  tailLines?: number;
  limitBytes?: number;
}

const isOn = (text: string | null): boolean => text === 'true' || text === '1';

/** @throws ApiError 400 */
export function readLogOptions(query: URLSearchParams, nowMs: number): LogOptions {
  const seconds = numberOf(query, 'sinceSeconds', 1);
  const time = query.get('sinceTime');
  if (seconds !== undefined && time !== null)
    throw badRequest('PodLogOptions "" is invalid: at most one of `sinceTime` or `sinceSeconds` may be specified');
  const sinceMs = seconds === undefined ? Date.parse(time ?? '') : nowMs - seconds * 1000;
  const tailLines = numberOf(query, 'tailLines', 0);
  const limitBytes = numberOf(query, 'limitBytes', 1);
  return {
    follows: isOn(query.get('follow')),
    isPrevious: isOn(query.get('previous')),
    stamped: isOn(query.get('timestamps')),
    ...(Number.isNaN(sinceMs) ? {} : { sinceMs }),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
  };
}

/** The lines that the options select, as the kubelet sends them. */
export function textOf(
  lines: readonly LogLine[],
  { stamped, sinceMs, tailLines, limitBytes }: Pick<LogOptions, 'stamped'> & Partial<LogOptions>,
): string {
  // A kubelet compares whole seconds.
  const recent =
    sinceMs === undefined ? lines : lines.filter(({ time }) => Date.parse(time) >= Math.floor(sinceMs / 1000) * 1000);
  const shown = tailLines === undefined ? recent : tailLines === 0 ? [] : recent.slice(-tailLines);
  const text = shown.map(({ time, line }) => `${stamped ? `${time} ` : ''}${line}\n`).join('');
  return limitBytes === undefined ? text : Buffer.from(text).subarray(0, limitBytes).toString('utf8');
}

function numberOf(query: URLSearchParams, name: string, least: number): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value >= least) return value;
  throw badRequest(`PodLogOptions "" is invalid: ${name}: Invalid value: "${text}": must be at least ${least}`);
}
