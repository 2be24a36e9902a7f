import { randomUUID } from 'node:crypto';
import type {
  BuildContainer,
  DiskBuild,
  DiskBuilds,
  FollowedBuild,
  InstanceProvisioning,
  VmSpec,
} from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import type { ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { recordingReporter } from './recording-reporter.js';

const GIB = 1024 ** 3;
const IMAGE = 'registry.example.org/os/bootc:1';

/** The rules for every `DiskBuilds`. The harness lets a build of the image succeed. */
export function diskBuildsContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`DiskBuilds, ${adapter}`, () => {
    let builds: DiskBuilds;
    let provisioning: InstanceProvisioning;
    let recorder: InventoryRecorder;
    let freshSpec: () => VmSpec;
    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      const { backend } = opened.harness;
      builds = backend.require('diskBuilds');
      provisioning = backend.require('provisioning');
      recorder = await opened.recorder();
      freshSpec = () => ({
        ref: opened.harness.freshRef(),
        cpu: 1,
        memoryBytes: GIB / 4,
        diskBytes: 4 * GIB,
        start: false,
        source: { kind: 'bootc', image: IMAGE, builder: 'context' },
      });
    });

    const container: BuildContainer = {
      image: IMAGE,
      command: [
        'bootc',
        'install',
        'to-disk',
        '--root-ssh-authorized-keys',
        '/headgate/authorized_keys',
        '/headgate/disk.raw',
      ],
      permissions: ['privileged-container', 'host-processes', 'host-devices', 'network'],
      diskFile: '/headgate/disk.raw',
      keysFile: '/headgate/authorized_keys',
    };
    const buildOf = ({ ref, diskBytes }: VmSpec): DiskBuild => ({
      id: `bootc-${ref.name}-${randomUUID()}`,
      ref,
      request: { image: IMAGE, diskBytes, sshKey: 'ssh-ed25519 AAAA' },
    });
    const record = (overrides: Partial<FollowedBuild> = {}) => {
      const lines: string[] = [];
      const positions: string[] = [];
      const report: FollowedBuild = {
        log: (line) => void lines.push(line),
        savePosition: async (position) => void positions.push(position),
        signal: new AbortController().signal,
        ...overrides,
      };
      return { lines, positions, report };
    };
    const built = async (build: DiskBuild) => {
      const recording = record();
      const volume = await builds.prepare(build, recording.report);
      await builds.install(build, container, recording.report);
      return { volume, ...recording };
    };
    const createVm = async (spec: VmSpec, volume: string): Promise<void> => {
      const source = { kind: 'bootc', image: IMAGE, builder: 'context', volume } as const;
      const { remaining } = await provisioning.create({ ...spec, source });
      await remaining?.(recordingReporter());
      await recorder.untilVm(spec.ref, ({ status }) => status === 'Stopped');
    };

    inTime('plans a build and changes nothing', async () => {
      const spec = freshSpec();
      const { steps, refusals } = await builds.plan(buildOf(spec), container);
      expect([steps.length > 0, refusals]).toEqual([true, []]);
      expect((await provisioning.planCreate(spec)).refusals).toEqual([]);
    });

    inTime('builds a disk, passes on the output, and gives the disk to its VM', async () => {
      const spec = freshSpec();
      const build = buildOf(spec);
      const { volume, lines, positions } = await built(build);
      expect(lines.join('\n')).toContain('Installation complete!');
      expect(positions.length).toBeGreaterThan(0);
      await createVm(spec, volume.name);
      await builds.handOver(build);
      await builds.remove(build);
      // The disk of a VM stays, however often the build is removed.
      await builds.remove(build);
      await provisioning.create({ ...freshSpec(), source: { kind: 'pvc', claim: volume.name } }).then(
        () => expect('a second VM with the disk').toBe('refused'),
        (error: unknown) => expect(error).toMatchObject({ code: 'BUSY' }),
      );
      await provisioning.delete(spec.ref);
    });

    inTime('finds the volume and the container of an earlier attempt, and repeats none of their lines', async () => {
      const build = buildOf(freshSpec());
      const first = await built(build);
      const second = record({ position: first.positions.at(-1) });
      expect(await builds.prepare(build, second.report)).toEqual(first.volume);
      await builds.install(build, container, second.report);
      expect(second.lines.join('\n')).not.toContain('Installation complete!');
      await builds.remove(build);
    });

    inTime('removes everything of a build whose VM does not exist, and that of no other one', async () => {
      const [build, other] = [buildOf(freshSpec()), buildOf(freshSpec())];
      await builds.prepare(other, record().report);
      await built(build);
      await builds.handOver(build);
      await builds.remove(build);
      await builds.remove(build);
      const again = await built(build);
      expect(again.lines.join('\n')).toContain('Installation complete!');
      await builds.remove(build);
      const { volume } = await built(other);
      expect(volume.name).not.toBe(again.volume.name);
      await builds.remove(other);
    });

    inTime('does not begin when it was canceled', async () => {
      const build = buildOf(freshSpec());
      const { report } = record({ signal: AbortSignal.abort(new Error('canceled')) });
      await expect(builds.prepare(build, report)).rejects.toThrow('canceled');
      await builds.remove(build);
    });
  });
}
