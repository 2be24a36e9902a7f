import { setTimeout as sleep } from 'node:timers/promises';
import { EventReader } from './event-reader.mjs';
import { quantile } from './latency.mjs';

/**
 * Milliseconds of the service's CPU time per change, including the event stream of one reader. The fleets take turns,
 * so that other load on the machine affects all of them.
 * @param {{cluster: import('./cluster.mjs').Cluster, service: import('./service.mjs').Service}[]} fleets
 * @returns {Promise<number[]>} the median of the rounds for each fleet
 */
export async function changeCosts(fleets, { rounds, perSecond, ms }) {
  const costs = fleets.map(() => []);
  const readers = await Promise.all(fleets.map(({ service }) => EventReader.open(service.url)));
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    for (const [index, { cluster, service }] of fleets.entries()) {
      const before = { time: service.processorTime(), serial: await cluster.stop() };
      await cluster.churn(perSecond);
      await sleep(ms);
      const serial = await cluster.stop();
      if (serial === before.serial) throw new Error('nothing changed');
      await readers[index].waitFor(serial);
      const cost = (service.processorTime() - before.time) / (serial - before.serial);
      if (round > 0) costs[index].push(cost);
    }
  }
  for (const reader of readers) reader.close();
  return costs.map((values) => quantile(values, 0.5));
}
