import 'reflect-metadata';
import type { HistoryPoint, Usage } from '@headgate/metrics';
import { presentHistory } from './present-history.js';

const USAGE: Usage = {
  cpuMillicores: 250,
  memoryUsedBytes: 1,
  memoryTotalBytes: 2,
  diskReadBytesPerSecond: null,
  diskWriteBytesPerSecond: null,
  networkReceiveBytesPerSecond: null,
  networkTransmitBytesPerSecond: null,
};
const measured = (time: number): HistoryPoint => ({ time, average: USAGE, maximum: USAGE });
const invented = (time: number): HistoryPoint => ({ ...measured(time), isSimulated: true });
const present = (...points: HistoryPoint[]) => presentHistory({ range: '24h', from: 0, to: 9, stepMs: 1, points });

test('marks invented steps, and no others', () => {
  expect(present(invented(1), measured(2)).points.map((point) => point.simulated)).toEqual([true, undefined]);
  expect(present(measured(2)).points[0]).not.toHaveProperty('simulated');
});

test('reports the first measured step as the beginning of the record', () => {
  expect(present(invented(1), measured(2)).recordedSince).toBe(2);
  expect(present(invented(1)).recordedSince).toBeUndefined();
  expect(present().recordedSince).toBeUndefined();
});
