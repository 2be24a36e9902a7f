/** `uefi-secure` starts only boot loaders with a signature that the firmware trusts. */
export const FIRMWARES = ['bios', 'uefi', 'uefi-secure'] as const;
export type Firmware = (typeof FIRMWARES)[number];
