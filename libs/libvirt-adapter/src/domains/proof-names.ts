import type { DomainId } from '../connection/domain-operations.js';

/** The names of everything that a proof creates contain its ID, so that no other domain or volume has them. */
export const proofNames = (id: string) =>
  ({
    domain: `headgate-proof-${id}`,
    overlay: (index: number) => `headgate-proof-${id}-${index}.qcow2`,
    variables: `headgate-proof-${id}-nvram.fd`,
    /** Short, because paths of sockets are. */
    folder: `proof-${id.replaceAll('-', '').slice(0, 12)}`,
  }) as const;

/** Names within the folder. */
export const PROOF_SOCKETS = { disks: 'n', serial: 's' } as const;

/** The names of everything that a session for the files of disks creates. */
export const readerNames = (id: string) =>
  ({
    domain: `headgate-files-${id}`,
    folder: `files-${id.replaceAll('-', '').slice(0, 12)}`,
  }) as const;

/** Names within the folder of a session. */
export const READER_FILES = { disks: 'n', kernel: 'k', initrd: 'i', ports: ['0', '1', '2'] } as const;

/** Whether a domain is a helper of any service: of a proof, or one that reads files. No user can choose its UUID. */
export const isHelperDomain = ({ name, uuid }: DomainId): boolean =>
  name === proofNames(uuid).domain || name === readerNames(uuid).domain;
