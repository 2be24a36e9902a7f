import type { ImageAcceptedView } from '@headgate/api-contracts';
import { useSyncExternalStore } from 'react';
import { ApiError } from '../../shared/api/api-error.js';
import { deleteImage, sendPart, type ImageAddress, type UploadTarget } from './api/image-requests.js';
import { reportedOffset, uploadFile } from './upload-file.js';

/** An upload that this page runs or that has failed. */
export interface Upload {
  readonly id: number;
  readonly target: UploadTarget;
  readonly file: File;
  readonly storedBytes: number;
  /** Why it stopped; undefined while it runs. */
  readonly error: unknown;
}

interface Entry extends Upload {
  readonly address: ImageAddress;
  readonly onAccepted: (answer: ImageAcceptedView) => void;
  readonly abort: AbortController;
  /** Whether the service has stored a part of this file, so that canceling has to delete it. */
  readonly hasBegun: boolean;
}

interface NewUpload {
  readonly target: UploadTarget;
  readonly file: File;
  /** Where the image will be. */
  readonly address: ImageAddress;
  /** Receives the answer to the last part. */
  readonly onAccepted: (answer: ImageAcceptedView) => void;
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The uploads of this tab. They continue while the user is on another page of the console. */
export class UploadStore {
  private entries: readonly Entry[] = [];
  private readonly listeners = new Set<() => void>();
  private lastId = 0;

  readonly current = (): readonly Upload[] => this.entries;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  start(upload: NewUpload): void {
    const id = ++this.lastId;
    const entry = { ...upload, id, storedBytes: 0, error: undefined, abort: new AbortController(), hasBegun: false };
    this.publish([...this.entries, entry]);
    void this.run(id);
  }

  /** Continues an upload that has stopped. */
  resume(id: number): void {
    this.change(id, { error: undefined });
    void this.run(id);
  }

  /** Stops an upload and deletes what the service has stored of it, but never an image that was there before. */
  async cancel(id: number): Promise<void> {
    const entry = this.find(id);
    if (!entry) return;
    entry.abort.abort();
    this.publish(this.entries.filter((other) => other !== entry));
    if (!entry.hasBegun) return;
    await deleteImage(entry.address).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.code === 'IMAGE_NOT_FOUND')) throw error;
    });
  }

  private async run(id: number): Promise<void> {
    const entry = this.find(id);
    if (!entry) return;
    const { target, file, abort, storedBytes, onAccepted } = entry;
    try {
      const answer = await uploadFile({
        file,
        offset: storedBytes,
        signal: abort.signal,
        sendPart: (offset, part) => sendPart({ target, file, offset, part }, abort.signal),
        onProgress: (stored) => this.change(id, { storedBytes: stored, hasBegun: true }),
        pause,
      });
      this.publish(this.entries.filter((other) => other.id !== id));
      onAccepted(answer);
    } catch (error) {
      if (abort.signal.aborted) return;
      this.change(id, { error, ...(isOfOther(error, file) && { hasBegun: false }) });
    }
  }

  private find(id: number): Entry | undefined {
    return this.entries.find((entry) => entry.id === id);
  }

  private change(id: number, change: Partial<Entry>): void {
    this.publish(this.entries.map((entry) => (entry.id === id ? { ...entry, ...change } : entry)));
  }

  private publish(entries: readonly Entry[]): void {
    this.entries = entries;
    for (const listener of this.listeners) listener();
  }
}

/** Whether the name belongs to another image or upload by now. */
const isOfOther = (error: unknown, file: File): boolean =>
  error instanceof ApiError &&
  error.status === 409 &&
  error.code !== 'BUSY' &&
  reportedOffset(error, file) === undefined;

export const uploads = new UploadStore();

export const useUploads = (): readonly Upload[] => useSyncExternalStore(uploads.subscribe, uploads.current);
