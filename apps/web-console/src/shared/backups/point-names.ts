const partsOf = (ref: string): string[] => ref.split('/').map(decodeURIComponent);

/** Of the ref that a VM had when it was backed up: `vm/<context>/<namespace>/<name>`. */
export const contextOfRef = (ref: string): string => partsOf(ref)[1] ?? '';
export const namespaceOfRef = (ref: string): string => partsOf(ref)[2] ?? '';
export const nameOfRef = (ref: string): string => partsOf(ref)[3] ?? ref;
