/** The pages of the console that are not of one instance. */
export const PLACES = [
  '/vms',
  '/vms/create',
  '/containers',
  '/containers/create',
  '/folders',
  '/folders?peek=',
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
