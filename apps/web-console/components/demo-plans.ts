import type { HardwareChangesPlanView, PlanView } from '@headgate/api-contracts';

export const READY: PlanView = {
  steps: [
    { name: 'shut down', detail: 'Shut down web-1 through its agent.', seconds: { low: 4, high: 9, measured: 12 } },
    { name: 'start', detail: 'Start web-1 on node-1.', seconds: { low: 2, high: 3, measured: 12 } },
  ],
  warnings: ['Its serial console is closed.'],
  refusals: [],
  seconds: { low: 6, high: 12, measured: 12 },
  interruption: { low: 6, high: 11, measured: 12 },
};

export const REFUSED: PlanView = {
  steps: [],
  warnings: [],
  refusals: [
    {
      code: 'BUSY',
      reason: 'The task move-web-1 uses web-1.',
      remedy: 'Wait until it has ended, or cancel it.',
    },
  ],
};

export const CHANGES: HardwareChangesPlanView = {
  changes: [
    {
      index: 0,
      action: 'scale the memory',
      before: '4Gi',
      after: '8Gi',
      effect: 'restart',
      steps: [{ name: 'scale', detail: 'Set the memory of web-1 to 8Gi.' }],
      warnings: [],
      refusals: [],
    },
    {
      index: 1,
      action: 'add a disk of 10Gi',
      before: '',
      after: '10Gi',
      effect: 'now',
      steps: [{ name: 'attach', detail: 'Create a disk of 10Gi and attach it.' }],
      warnings: [],
      refusals: [],
    },
  ],
  steps: [],
  effect: 'restart',
  warnings: [],
  refusals: [],
};
