import { DomainError, guestText, messageOf, type ErrorCode } from '@headgate/domain-contracts';
import { LibvirtError } from '@headgate/libvirt-rpc';

/** Errors that are not the guest's doing. */
const OWN_ERRORS: readonly ErrorCode[] = [
  'INSTANCE_NOT_FOUND',
  'BACKEND_UNREACHABLE',
  'BACKEND_FORBIDDEN',
  'NOT_SUPPORTED',
];

/**
 * Asks the agent of a guest. Whatever goes wrong inside the guest, or because of it, is GUEST_AGENT_UNREACHABLE.
 * @param name of the VM, for the message
 */
export async function askAgent<T>(name: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (DomainError.is(error, ...OWN_ERRORS) && !isWrittenByGuest(error)) throw error;
    throw new DomainError(
      'GUEST_AGENT_UNREACHABLE',
      `The guest agent of ${name} can't be reached: ${guestText(messageOf(error)).replace(/\.$/, '')}.`,
      { cause: error },
    );
  }
}

const NO_DOMAIN = 42;
const ACCESS_DENIED = 88;

/** libvirt quotes the agent in its messages, which could make them look like messages about something else. */
const isWrittenByGuest = ({ cause }: DomainError): boolean =>
  cause instanceof LibvirtError && cause.code !== NO_DOMAIN && cause.code !== ACCESS_DENIED;

/** libvirt's message for a command that the agent answered with an error. */
export const isRefusedByAgent = (error: unknown): boolean =>
  error instanceof DomainError &&
  /unable to execute QEMU agent command|agent command '[^']*' failed/.test(error.message);
