/** Milliseconds of the machine's monotonic clock: the same in every process. */
export const monotonic = () => Number(process.hrtime.bigint()) / 1e6;
