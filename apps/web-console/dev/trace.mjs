const MAIN = 'CrRendererMain';
const STEPS = {
  script: 'FunctionCall',
  style: 'UpdateLayoutTree',
  layout: 'Layout',
  paint: 'Paint',
  layers: 'Layerize',
};

/**
 * Runs a function under Chromium's tracing.
 * @returns its result, and the CPU time in milliseconds per frame of the main thread, of its largest parts, and of the
 *   raster threads
 */
export async function traced(page, frames, run) {
  const session = await page.context().newCDPSession(page);
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel', 'devtools.timeline', 'cc'] },
  });
  const result = await run();
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await complete;
  await session.detach();

  const threads = new Map();
  for (const { name, pid, tid, args } of events) if (name === 'thread_name') threads.set(`${pid}:${tid}`, args.name);
  const spent = (thread, names) => {
    const ms = events
      .filter(
        ({ ph, name, pid, tid }) =>
          ph === 'X' && names.includes(name) && threads.get(`${pid}:${tid}`)?.includes(thread),
      )
      .reduce((sum, { tdur, dur }) => sum + (tdur ?? dur) / 1000, 0);
    return Number((ms / frames).toFixed(1));
  };
  return {
    result,
    perFrame: {
      main: spent(MAIN, ['RunTask', 'ThreadControllerImpl::RunTask']),
      ...Object.fromEntries(Object.entries(STEPS).map(([step, name]) => [step, spent(MAIN, [name])])),
      raster: spent('ThreadPool', ['RasterTask']),
    },
  };
}
