import { setTimeout as sleep } from 'node:timers/promises';
import { TAG } from './cluster.mjs';
import { EventReader } from './event-reader.mjs';
import { monotonic } from './monotonic.mjs';

/** The value below which so much of a sample lies. */
export const quantile = (values, part) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];

/**
 * Milliseconds from a change in the cluster until it is read on the event stream, for every change of a while.
 * @returns {Promise<{latencies: number[], perSecond: number}>}
 */
export async function streamLatencies(cluster, service, { perSecond, ms }) {
  const reader = await EventReader.open(service.url);
  const made = new Map();
  const note = (serial, at) => made.set(serial, at);
  cluster.on('changed', note);
  try {
    const began = monotonic();
    await cluster.churn(perSecond);
    await sleep(ms);
    const last = await cluster.stop();
    const took = monotonic() - began;
    await reader.saw(last);
    const latencies = [...made].map(([serial, at]) => {
      if (!reader.seen.has(serial)) throw new Error(`change ${serial} is missing on the event stream`);
      return reader.seen.get(serial) - at;
    });
    return { latencies, perSecond: (made.size * 1000) / took };
  } finally {
    cluster.off('changed', note);
    reader.close();
  }
}

/**
 * Milliseconds from a change in the cluster until a list that is asked for shows it, and what such a list takes to be read
 * to its end. The list is asked for again and again, and one change after the other is waited for: the newest at that moment.
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
      else latencies.push((await shownFrom(service, serial, readings)) - at);
    }
    await cluster.stop();
    return { latencies, readings };
  } finally {
    cluster.off('changed', note);
  }
}

/** @returns when the first list was asked for that shows the change */
async function shownFrom(service, serial, readings) {
  const tag = `"${TAG}${serial}"`;
  for (let attempt = 0; attempt < 100; attempt++) {
    const asked = monotonic();
    const list = await service.list();
    readings.push(monotonic() - asked);
    if (list.includes(tag)) return asked;
  }
  throw new Error(`change ${serial} never came in the list`);
}
