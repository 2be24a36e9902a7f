const MAX_CHARS = 63;

/** The name of a machine as the service takes it: `Ann's MacBook.local` → `ann-s-macbook`. */
export function machineName(hostName: string): string {
  const [first = ''] = hostName.toLowerCase().split('.');
  const name = first
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, MAX_CHARS)
    .replace(/-+$/, '');
  return name === '' ? 'headgate' : name;
}
