import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LayerMerger } from './layer-merger.js';
import { LibvirtSnapshots } from './libvirt-snapshots.js';
import { TpmState } from './tpm-state.js';

export const openSnapshots = (engine: LibvirtEngine): LibvirtSnapshots =>
  new LibvirtSnapshots({ ...engine, merger: new LayerMerger(engine), tpm: new TpmState(engine.uri) });
