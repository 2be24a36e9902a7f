import { join } from 'node:path';
import { SILENT_LOG } from '@headgate/domain-contracts';
import { EgressPolicy, PartialDownloads, SPACE_WATERMARK_BYTES, SpaceGuard } from '@headgate/downloads';
import { DomainEditor } from '../domains/domain-editor.js';
import { DomainFinder } from '../domains/domain-finder.js';
import { StopRequests } from '../domains/stop-requests.js';
import { OsinfoDatabase } from '../guest-profiles/osinfo-database.js';
import { HostLock } from '../host-lock/host-lock.js';
import { describeHost, isRemote, reportedAccelerator } from '../host/host.js';
import { KeyedLock } from '../locks/concurrency.js';
import { DiskHolds } from '../locks/disk-holds.js';
import { GuestNetwork } from '../network/guest-network.js';
import { DomainRemover } from '../removal/domain-remover.js';
import { findDiscWriter, writeSeedIso } from '../seeds/seed-iso.js';
import { BaseImageIndex } from '../storage/base-image-index.js';
import { BaseImages } from '../storage/base-images.js';
import { BaseReferences } from '../storage/base-references.js';
import { DiskIoProbe } from '../storage/disk-io.js';
import { DiskUsage } from '../storage/disk-usage.js';
import { QemuImg } from '../storage/qemu-img.js';
import { defaultPoolPath, POOL_NAME, StoragePool } from '../storage/storage-pool.js';
import { WorkInProgress } from '../work-in-progress/work-in-progress.js';
import { connect } from './connect.js';
import type { LibvirtEngineOptions } from './engine-options.js';
import type { LibvirtEngine } from './libvirt-engine.js';

/** Creates the parts that the abilities of one libvirt share. Does no I/O. */
export function openEngine(options: LibvirtEngineOptions): LibvirtEngine {
  const { context, uri, clock, log = SILENT_LOG, run } = options;
  const folder = join(options.dataDir, 'libvirt', encodeURIComponent(context));
  const progress = new WorkInProgress(folder);
  const service = (): string => progress.mark();
  const createTemporaryFolder = (): Promise<string> => progress.createTemporaryFolder();
  const connection = options.connection ?? connect({ uri, clock, log, run, createTemporaryFolder });
  const finder = new DomainFinder(context, connection);
  const pool = new StoragePool(connection, POOL_NAME, options.poolPath ?? defaultPoolPath(uri, folder), clock);
  const local = new KeyedLock();
  // A simulated virsh has no other clients.
  const lock = run === undefined ? new HostLock({ pool, clock, log, local }) : local;
  const editor = new DomainEditor(connection, lock);
  const references = new BaseReferences(connection, finder);
  const bases = new BaseImages({
    pool,
    references,
    service,
    clock,
    log,
    index: new BaseImageIndex(join(folder, 'base-images.json')),
    watermarkBytes: SPACE_WATERMARK_BYTES,
  });
  const network = new GuestNetwork(connection);
  const accelerator = options.accelerator ?? reportedAccelerator(connection);
  const diskIo = new DiskIoProbe(pool, { run, isRemote: isRemote(uri), createTemporaryFolder });
  return {
    context,
    uri,
    folder,
    clock,
    log,
    run,
    connection,
    finder,
    pool,
    local,
    lock,
    editor,
    progress,
    service,
    createTemporaryFolder,
    references,
    bases,
    network,
    accelerator,
    isRemote: isRemote(uri),
    remover: new DomainRemover(connection, finder, pool, editor, bases),
    holds: new DiskHolds(),
    stops: new StopRequests(clock),
    readUsage: () => DiskUsage.read(connection, finder),
    images: new QemuImg(run),
    diskIo: () => diskIo.probe(),
    downloads: {
      http: { egress: new EgressPolicy({ allow: options.importAllow }), clock },
      space: new SpaceGuard(folder, options.freeSpace),
      partials: new PartialDownloads(join(folder, 'partial'), clock),
    },
    profiles: new OsinfoDatabase(),
    describeHost: () => describeHost(connection, network, accelerator),
    findDiscWriter: () => findDiscWriter(run),
    writeSeed: (seed, into) => writeSeedIso(seed, into, run),
  };
}
