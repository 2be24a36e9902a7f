/** Counters that report only the load, so that the values do not depend on the time between two readings. */
export const STEADY_READING = {
  cpuTimeMs: null,
  cpuMillicores: 250,
  diskReadBytes: null,
  diskWrittenBytes: null,
  networkReceivedBytes: null,
  networkTransmittedBytes: null,
};
