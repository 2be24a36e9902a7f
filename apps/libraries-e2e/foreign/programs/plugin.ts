import { serveDoctorChecks, type PluginCheck } from '@headgate/plugin-sdk';

const checks = (): PluginCheck[] => [
  { name: 'clock', status: Date.now() > 0 ? 'ok' : 'error', message: 'The clock is set.', remedy: '' },
];

serveDoctorChecks({ name: 'foreign', version: '1.0.0', checks });
