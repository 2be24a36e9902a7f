import { availableParallelism, loadavg } from 'node:os';
import { serveDoctorChecks } from '@headgate/plugin-sdk';

/** The load per processor above which guests notice that they share the machine. */
const MAX_LOAD_PER_PROCESSOR = 2;

serveDoctorChecks({
  name: 'load-check',
  version: '1.0.0',
  checks: () => {
    const processors = availableParallelism();
    const [, load = 0] = loadavg();
    const isHigh = load > processors * MAX_LOAD_PER_PROCESSOR;
    return [
      {
        name: 'load',
        status: isHigh ? 'warning' : 'ok',
        message: `The load of the last five minutes is ${load.toFixed(1)} on ${processors} processors.`,
        remedy: isHigh ? 'Stop some VMs, or move them to another machine.' : '',
      },
    ];
  },
});
