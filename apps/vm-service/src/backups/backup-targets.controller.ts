import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { everything, sharedData, visibleInstances } from '@headgate/access';
import {
  AcceptedView,
  AddBackupTargetDto,
  BackupPointPath,
  BackupPointsQuery,
  BackupPointView,
  BackupTargetPath,
  BackupTargetStateView,
  BackupTargetView,
  ChangeQuery,
  CheckBackupsDto,
  CleanBackupsDto,
  EmptyBody,
  RestoreBackupDto,
  StatusView,
  type PlanView,
} from '@headgate/api-contracts';
import {
  AddTarget,
  CheckTarget,
  CleanTarget,
  DeletePoint,
  ListPoints,
  proofStateOf,
  ProofStore,
  RemoveTarget,
  RestorePoint,
  TargetState,
  type BackupPoint,
} from '@headgate/backups';
import {
  BackendDirectory,
  BackupTargetStore,
  chooseNamespace,
  formatRef,
  parseRef,
  type BackupTarget,
  type Caller,
} from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { expectTimeZone } from '@headgate/schedules';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';

@Controller('api/ext/backups/targets')
export class BackupTargetsController {
  constructor(
    private readonly targets: BackupTargetStore,
    private readonly fleet: FleetReader,
    private readonly backends: BackendDirectory,
    private readonly addTarget: AddTarget,
    private readonly removeTarget: RemoveTarget,
    private readonly targetState: TargetState,
    private readonly listPoints: ListPoints,
    private readonly deletePoint: DeletePoint,
    private readonly restorePoint: RestorePoint,
    private readonly cleanTarget: CleanTarget,
    private readonly checkTarget: CheckTarget,
    private readonly proofs: ProofStore,
  ) {}

  @Needs(sharedData)
  @Get()
  @Describe('The repositories of backups, without their passwords, by name.', answerList(200, BackupTargetView))
  list(@CurrentCaller() { grant }: Caller): BackupTargetView[] {
    return this.targets.all().map((target) => present(target, grant.allowsAll('manage')));
  }

  @Needs(everything('manage'))
  @Post()
  @Describe('Adds a repository. Creates it if there is none at the path yet.', answer(201, BackupTargetView))
  add(
    @Body() { name, kind, path, password }: AddBackupTargetDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<BackupTargetView | PlanView> {
    return request.answer(query, this.addTarget, [{ name, kind, path, password }], (target) => present(target, true));
  }

  @Needs(everything('manage'))
  @Delete(':target')
  @Describe('Forgets a target with its password. Its repository stays as it is.', answer(200, StatusView))
  remove(
    @Param() { target }: BackupTargetPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.removeTarget, [target], () => ({ status: 'removed' }));
  }

  @Needs(everything('read'))
  @Get(':target/state')
  @Describe('Whether a target can be used now, its space, and its newest backup.', answer(200, BackupTargetStateView))
  state(@Param() { target }: BackupTargetPath): Promise<BackupTargetStateView> {
    return this.targetState.run(target);
  }

  @Needs(visibleInstances)
  @Get(':target/points')
  @Describe(
    'The backups of VMs in a target, the newest first. Those of VMs that no longer exist are for callers who may read everything.',
    answerList(200, BackupPointView),
  )
  async points(
    @Param() { target }: BackupTargetPath,
    @Query() { ref }: BackupPointsQuery,
    @CurrentCaller() caller: Caller,
  ): Promise<BackupPointView[]> {
    const wanted = ref === undefined ? undefined : formatRef(parseRef(ref));
    const points = await this.listPoints.run(target);
    return points
      .filter((point) => (wanted === undefined || point.ref === wanted) && this.mayRead(point, caller))
      .map(({ id, time, ref: of, uid, consistency, sizeBytes, schedule }) => ({
        ...this.proofOf(target, id),
        id,
        time,
        ref: of,
        uid,
        consistency,
        sizeBytes,
        ...(schedule !== undefined && { schedule }),
      }));
  }

  @Needs(everything('delete'))
  @Delete(':target/points/:point')
  @Describe(
    'Deletes a backup. The space of its content is free after the next clean-up of the target.',
    answer(200, StatusView),
  )
  delete(
    @Param() { target, point }: BackupPointPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.deletePoint, [target, point], () => ({ status: 'deleted' }));
  }

  // A backup has everything that is on the disks, and the new VM is in no folder.
  @Needs(everything('create'))
  @Post(':target/points/:point/restore')
  @Describe('Builds a new VM from a backup, as a task. The original stays as it is.', answer(202, AcceptedView))
  @HttpCode(202)
  restore(
    @Param() { target, point }: BackupPointPath,
    @Body() { context, namespace, name, mapping, keepMacs = false, instant = false }: RestoreBackupDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<AcceptedView | PlanView> {
    const { traits } = this.backends.get(context);
    const destination = { kind: 'vm', context, namespace: chooseNamespace(traits, context, namespace), name } as const;
    const restored = {
      target,
      point,
      destination,
      mapping: { networks: mapping?.networks ?? {}, storageClasses: mapping?.storageClasses ?? {} },
      keepMacs,
      instant,
    };
    return request.answer(query, this.restorePoint, [restored], (task) => ({ task }));
  }

  @Needs(everything('delete'))
  @Post(':target/clean')
  @Describe(
    'Deletes the backups of this service that rules do not keep, and frees their space, as a task.',
    answer(202, AcceptedView),
  )
  @HttpCode(202)
  clean(
    @Param() { target }: BackupTargetPath,
    @Body() { keep, timeZone = 'UTC' }: CleanBackupsDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<AcceptedView | PlanView> {
    expectTimeZone(timeZone);
    return request.answer(query, this.cleanTarget, [{ target, rules: { ...keep }, timeZone }], (task) => ({ task }));
  }

  @Needs(everything('manage'))
  @Post(':target/check')
  @Describe('Verifies a target, as a task. The task fails if a part is damaged.', answer(202, AcceptedView))
  @HttpCode(202)
  check(
    @Param() { target }: BackupTargetPath,
    @Body() { readData = false }: CheckBackupsDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<AcceptedView | PlanView> {
    return request.answer(query, this.checkTarget, [{ target, readData }], (task) => ({ task }));
  }

  private proofOf(target: string, point: string): Pick<BackupPointView, 'proof'> {
    const found = this.proofs.of(target, point);
    return found ? { proof: proofStateOf(found) } : {};
  }

  /** A VM that was replaced by another one of its name, or deleted, is in no folder. */
  private mayRead({ ref, uid }: BackupPoint, { grant }: Caller): boolean {
    if (grant.allowsAll('read')) return true;
    try {
      return this.fleet.get(parseRef(ref))?.uid === uid && grant.allowsRef('read', ref);
    } catch {
      return false;
    }
  }
}

const present = ({ id, name, kind, createdAt, path, creator }: BackupTarget, isManager: boolean): BackupTargetView => ({
  id,
  name,
  kind,
  createdAt,
  ...(isManager && { path, creator }),
});
