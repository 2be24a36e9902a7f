import { setTimeout as sleep } from 'node:timers/promises';
import { EventReader } from './event-reader.mjs';
import { quantile } from './latency.mjs';

/**
 * Milliseconds of the service's processor time that one change costs, the event stream of one reader with it: for several
 * fleets in turn, so that whatever else the machine does meets all of them.
 * @param {{cluster: import('./cluster.mjs').Cluster, service: import('./service.mjs').Service}[]} fleets
 * @returns {Promise<number[]>} the median of the rounds, fleet by fleet
 */
export async function changeCosts(fleets, { rounds, perSecond, ms }) {
  const costs = fleets.map(() => []);
  const readers = await Promise.all(fleets.map(({ service }) => EventReader.open(service.url)));
  // The first round only warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const [index, { cluster, service }] of fleets.entries()) {
      const before = { time: service.processorTime(), serial: await cluster.stop() };
      await cluster.churn(perSecond);
      await sleep(ms);
      const serial = await cluster.stop();
      if (serial === before.serial) throw new Error('nothing changed');
      await readers[index].saw(serial);
      const cost = (service.processorTime() - before.time) / (serial - before.serial);
      if (round > 0) costs[index].push(cost);
    }
  }
  for (const reader of readers) reader.close();
  return costs.map((values) => quantile(values, 0.5));
}
