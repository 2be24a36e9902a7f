import { CapLedger, RateLimiter, MemoryRateLimiter } from '@headgate/limits-core';
import { Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { exportsBlocks } from '../config/blocks.section.js';
import { LiveConfig } from '../config/live-config.js';
import { sharedSecret } from '../config/shared-secret.js';
import { sharedUrls } from '../config/shared.section.js';
import { DATA_DIR, LOGGER } from '../config/settings.module.js';
import { MAIN_LINK, type MainLink } from '../link/protocol.js';
import { AddressBlocks } from './address-blocks.js';
import { BlocksFile, readBlocks } from './blocks-file.js';
import { DataFolder } from './data-folder.js';
import { mayLeave } from './may-leave.js';
import { RemoteLedger } from './remote-ledger.js';
import { ObservedWindows } from './observed-windows.js';
import { OperatorJournal } from './operator-journal.js';
import { Overrides } from './overrides.js';
import { RecipientKeys, recipientSecretIn } from './recipient-keys.js';
import type { SharedStore } from './shared-store.js';
import { SHARED_STORE } from './shared-store.token.js';
import { WindowStateFile } from './window-state-file.js';

/** The client of the shared server takes memory that most gateways do not need, so it is loaded on demand. */
async function openSharedStore(
  config: LiveConfig,
  windows: MemoryRateLimiter,
  log: Logger,
  main?: MainLink,
): Promise<SharedStore | undefined> {
  const { shared } = config.current;
  if (sharedUrls(shared).length === 0 || main) return undefined;
  const { SharedStore } = await import('./shared-store.js');
  return new SharedStore(shared, windows, log);
}

/** Gateways that share windows need the same secret. Without one, they count the recipients under plain digests. */
function recipientKeysOf(config: LiveConfig, folder: DataFolder): RecipientKeys {
  const { shared } = config.current;
  const secret = sharedUrls(shared).length === 0 ? undefined : (sharedSecret(shared) ?? 'recipients');
  return new RecipientKeys(() => secret ?? recipientSecretIn(folder.path));
}

/**
 * What the rules count: windows and caps, in this process or on a shared server, and the window state on disk. Global,
 * because Nest starts global modules first and stops them last: the state is written after the last request.
 */
@Global()
@Module({
  providers: [
    {
      provide: DataFolder,
      useFactory: (path: string, main?: MainLink) => (main ? DataFolder.ofMainProcess(path) : DataFolder.claim(path)),
      inject: [DATA_DIR, MAIN_LINK],
    },
    { provide: MemoryRateLimiter, useFactory: () => new MemoryRateLimiter() },
    {
      provide: CapLedger,
      useFactory: (main?: MainLink) => (main ? new RemoteLedger(main) : new CapLedger()),
      inject: [MAIN_LINK],
    },
    {
      provide: Overrides,
      useFactory: ({ current: { operator } }: LiveConfig, folder: DataFolder, main?: MainLink) =>
        // The main process decides, also with the limits of single keys.
        main ? new Overrides() : new Overrides({ dataDir: folder.path, isWritable: operator.listen !== undefined }),
      inject: [LiveConfig, DataFolder, MAIN_LINK],
    },
    {
      provide: OperatorJournal,
      useFactory: ({ current: { operator } }: LiveConfig, folder: DataFolder, main?: MainLink) =>
        operator.listen === undefined || main ? undefined : new OperatorJournal(folder.path),
      inject: [LiveConfig, DataFolder, MAIN_LINK],
    },
    {
      provide: AddressBlocks,
      useFactory: (config: LiveConfig, folder: DataFolder, log: Logger, main?: MainLink) =>
        main || !exportsBlocks(config.current.blocks)
          ? undefined
          : new AddressBlocks({
              isInForce: (block) => mayLeave(config.current, block),
              stored: readBlocks(folder.path, log),
              onFull: (blocks) => log.warn({ blocks }, 'too many addresses are blocked; further ones are not exported'),
            }),
      inject: [LiveConfig, DataFolder, LOGGER, MAIN_LINK],
    },
    {
      provide: BlocksFile,
      useFactory: (folder: DataFolder, log: Logger, blocks?: AddressBlocks) =>
        blocks && new BlocksFile(blocks, folder.path, log),
      inject: [DataFolder, LOGGER, AddressBlocks],
    },
    { provide: RecipientKeys, useFactory: recipientKeysOf, inject: [LiveConfig, DataFolder] },
    {
      provide: WindowStateFile,
      useFactory: (windows: MemoryRateLimiter, folder: DataFolder, log: Logger, main?: MainLink) =>
        main ? undefined : new WindowStateFile(windows, folder.path, log),
      inject: [MemoryRateLimiter, DataFolder, LOGGER, MAIN_LINK],
    },
    { provide: SHARED_STORE, useFactory: openSharedStore, inject: [LiveConfig, MemoryRateLimiter, LOGGER, MAIN_LINK] },
    {
      provide: RateLimiter,
      useFactory: (windows: MemoryRateLimiter, file?: WindowStateFile, shared?: SharedStore) =>
        file ? new ObservedWindows(shared?.windows ?? windows, file.scheduleWrite) : windows,
      inject: [MemoryRateLimiter, WindowStateFile, SHARED_STORE],
    },
  ],
  exports: [
    DataFolder,
    MemoryRateLimiter,
    CapLedger,
    RateLimiter,
    Overrides,
    OperatorJournal,
    RecipientKeys,
    AddressBlocks,
    SHARED_STORE,
  ],
})
export class StateModule {}
