import { setTimeout as sleep } from 'node:timers/promises';
import { TAG } from './cluster.mjs';
import { EventReader } from './event-reader.mjs';
import { monotonic } from './monotonic.mjs';

/** The given quantile of a sample, for example 0.99. */
export const quantile = (values, part) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];

/**
 * Milliseconds from a change in the cluster until it is read on the event stream, for each change of a period.
 * @returns {Promise<{latencies: number[], perSecond: number}>}
 */
export async function streamLatencies(cluster, service, { perSecond, ms }) {
  const reader = await EventReader.open(service.url);
  const changes = new Map();
  const note = (serial, at) => changes.set(serial, at);
  cluster.on('changed', note);
  try {
    const began = monotonic();
    await cluster.churn(perSecond);
    await sleep(ms);
    const last = await cluster.stop();
    const took = monotonic() - began;
    await reader.waitFor(last);
    const latencies = [...changes].map(([serial, at]) => {
      if (!reader.seen.has(serial)) throw new Error(`change ${serial} is missing on the event stream`);
      return reader.seen.get(serial) - at;
    });
    return { latencies, perSecond: (changes.size * 1000) / took };
  } finally {
    cluster.off('changed', note);
    reader.close();
  }
}

/**
 * Milliseconds from a change in the cluster until a requested list shows it, and the time to read such a list to its
 * end. The list is requested repeatedly, each time waiting for the change that was newest at that moment.
 * @returns {Promise<{latencies: number[], readings: number[]}>}
 */
export async function listLatencies(cluster, service, { perSecond, ms }) {
  let newest;
  const note = (serial, at) => (newest = { serial, at });
  cluster.on('changed', note);
  try {
    await cluster.churn(perSecond);
    const until = monotonic() + ms;
    const latencies = [];
    const readings = [];
    while (monotonic() < until) {
      const { serial, at } = newest ?? {};
      newest = undefined;
      if (serial === undefined) await sleep(1);
      else latencies.push((await firstShownAt(service, serial, readings)) - at);
    }
    await cluster.stop();
    return { latencies, readings };
  } finally {
    cluster.off('changed', note);
  }
}

/** @returns the time of the first list request whose response shows the change */
async function firstShownAt(service, serial, readings) {
  const tag = `"${TAG}${serial}"`;
  for (let attempt = 0; attempt < 100; attempt++) {
    const requestedAt = monotonic();
    const list = await service.list();
    readings.push(monotonic() - requestedAt);
    if (list.includes(tag)) return requestedAt;
  }
  throw new Error(`change ${serial} did not appear in the list`);
}
