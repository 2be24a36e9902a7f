import { presentUsage } from './present-usage.js';

describe('presentUsage', () => {
  test('has each value in its place', () => {
    expect(
      presentUsage({
        cpuMillicores: 1,
        memoryUsedBytes: 2,
        memoryTotalBytes: 3,
        diskReadBytesPerSecond: 4,
        diskWriteBytesPerSecond: 5,
        networkReceiveBytesPerSecond: 6,
        networkTransmitBytesPerSecond: 7,
      }),
    ).toEqual({
      cpu: 1,
      memory: { usedBytes: 2, totalBytes: 3 },
      disk: { readBytesPerSecond: 4, writeBytesPerSecond: 5 },
      network: { receiveBytesPerSecond: 6, transmitBytesPerSecond: 7 },
    });
  });

  test('has null for a group without any value, and zero for nothing', () => {
    expect(
      presentUsage({
        cpuMillicores: 0,
        memoryUsedBytes: null,
        memoryTotalBytes: 3,
        diskReadBytesPerSecond: 0,
        diskWriteBytesPerSecond: null,
        networkReceiveBytesPerSecond: null,
        networkTransmitBytesPerSecond: null,
      }),
    ).toEqual({
      cpu: 0,
      memory: { usedBytes: null, totalBytes: 3 },
      disk: { readBytesPerSecond: 0, writeBytesPerSecond: null },
      network: null,
    });
  });
});
