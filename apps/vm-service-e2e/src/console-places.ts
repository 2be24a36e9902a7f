/** The pages of the console that are not of one instance. */
export const PLACES = [
  '/vms',
  '/containers',
  '/nodes',
  '/nodes?view=table',
  '/storage',
  '/networks',
  '/images',
  '/plugins',
  '/activity',
  '/doctor',
  '/journal',
  '/integrations',
] as const;
