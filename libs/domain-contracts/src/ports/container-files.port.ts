import type { Readable } from 'node:stream';
import type { InstanceRef } from '../values/instance-ref.js';
import type { FilePage, FileRange } from './disk-files.port.js';

/**
 * The files of running containers, as the user of the container sees them. They are only read. Paths are as
 * `textOfFile` writes them, and begin with `/`. Links are followed inside the container. Everything that comes from a
 * container is untrusted.
 *
 * Both methods throw INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE, BACKEND_TIMEOUT, BACKEND_FAILED; FILE_NOT_FOUND for a
 * path that is not there, WRONG_STATE for a container that does not run, an entry of another kind, and one that the
 * user of the container may not read, and NOT_SUPPORTED for a container whose files can't be read, and for a path that
 * the engine can't pass on.
 */
export abstract class ContainerFiles {
  /** @param signal ends the reading */
  abstract list(ref: InstanceRef, path: string, range: FileRange, signal: AbortSignal): Promise<FilePage>;

  /**
   * The content of a file, from its first byte. It flows as fast as it is read. Devices, sockets and pipes are not
   * opened. A content that breaks off is destroyed with an error; one that ends on its own is complete.
   * @param signal ends the reading, also before the first byte
   */
  abstract read(ref: InstanceRef, path: string, signal: AbortSignal): Promise<Readable>;
}
