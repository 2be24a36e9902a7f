import 'reflect-metadata';
import { Replicas } from '@headgate/domain-contracts';
import { ListenAddress } from '@headgate/nest-kit';
import { pino, type Logger } from 'pino';
import { claimDataDir } from '../../composition/claim-data-dir.js';
import { chooseContexts } from '../../composition/choose-contexts.js';
import { parseCommandLine } from '../../config/command-line.js';
import { loadSettings } from '../../config/load-config.js';
import { createService, type Service } from '../../create-app.js';

/** The first message of a replica to the test that started it. */
export interface ReplicaReady {
  readonly url: string;
  /** Its name among the replicas. */
  readonly id: string;
}

/** The arguments of a process that `Replica` starts. */
export interface ReplicaParams {
  /** A file. */
  readonly config: string;
  readonly dataDir: string;
  /** The URL of the simulated cluster. */
  readonly apiServer: string;
  readonly leaseSeconds: number;
}

export interface PreparedReplica {
  readonly service: Service;
  readonly apiServer: string;
  readonly log: Logger;
}

/** Runs the whole service in this process, until the test that started it ends or kills it. */
export async function runReplica(prepare: (replica: PreparedReplica) => void = () => undefined): Promise<void> {
  const { config, dataDir, apiServer, leaseSeconds } = JSON.parse(process.argv[2] ?? '{}') as ReplicaParams;
  const options = parseCommandLine(['--config', config, '--data-dir', dataDir, '--listen', '127.0.0.1:0', '--open']);
  const loaded = loadSettings(options, {});
  const settings = { ...loaded, store: { ...loaded.store, leaseSeconds } };
  const log = pino({ level: process.env['LOG_LEVEL'] ?? 'fatal' }, pino.destination(2));
  claimDataDir(dataDir);
  const contexts = await chooseContexts({ options, settings, log });
  const service = await createService({ settings, contexts, log, pageDir: dataDir });
  prepare({ service, apiServer, log });
  await service.start();
  process.on('disconnect', () => process.exit());
  const url = ListenAddress.parse(settings.listen).urlOn(service.port());
  process.send?.({ url, id: service.app.get(Replicas).id } satisfies ReplicaReady);
}
