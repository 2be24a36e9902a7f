/** Usual sizes. The memory is a quantity of the API. */
export const SIZE_PRESETS = [
  { name: 'S', cpu: '1', mem: '2Gi' },
  { name: 'M', cpu: '2', mem: '4Gi' },
  { name: 'L', cpu: '4', mem: '8Gi' },
  { name: 'XL', cpu: '8', mem: '16Gi' },
] as const;
