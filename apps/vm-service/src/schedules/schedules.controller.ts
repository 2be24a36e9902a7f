import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { eachMember, ownObjects } from '@headgate/access';
import {
  ChangeQuery,
  CreateScheduleDto,
  EmptyBody,
  PreviewScheduleDto,
  ScheduleDetailView,
  ScheduledRunView,
  SchedulePath,
  SchedulePreviewView,
  ScheduleView,
  StatusView,
  UpdateScheduleDto,
  type PlanView,
} from '@headgate/api-contracts';
import { Clock, ScheduleStore, type Caller } from '@headgate/domain-contracts';
import {
  CreateSchedule,
  DeleteSchedule,
  findSchedule,
  PlannedTimes,
  RunSchedule,
  Scheduler,
  UpdateSchedule,
  visibleSchedules,
} from '@headgate/schedules';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { scheduledJob } from './job-params.js';
import { presentDetail, presentRun, presentSchedule } from './present-schedule.js';

const PREVIEWED = 5;

/**
 * Each caller sees and changes their own schedules, which run with their rights. Those with all rights do so with the
 * schedules of all.
 */
@Controller('api/ext/schedules')
export class SchedulesController {
  constructor(
    private readonly store: ScheduleStore,
    private readonly scheduler: Scheduler,
    private readonly clock: Clock,
    private readonly createSchedule: CreateSchedule,
    private readonly updateSchedule: UpdateSchedule,
    private readonly deleteSchedule: DeleteSchedule,
    private readonly runSchedule: RunSchedule,
  ) {}

  @Needs(ownObjects)
  @Get()
  @Describe(
    'The schedules of the caller, or of all for callers with all rights, by name.',
    answerList(200, ScheduleView),
  )
  list(@CurrentCaller() caller: Caller): ScheduleView[] {
    return visibleSchedules(this.store, caller).map((one) => presentSchedule(one, this.scheduler));
  }

  @Needs(eachMember)
  @Post()
  @Describe(
    'Creates a schedule of the caller: at most 100. Its runs have the rights that the caller has at that time.',
    answer(201, ScheduleDetailView),
  )
  create(
    @Body() { job, ...schedule }: CreateScheduleDto,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<ScheduleDetailView | PlanView> {
    const { name, cron, timeZone, enabled = true, jitterSeconds = 0, missed = 'skip' } = schedule;
    const fields = { name, cron, timeZone, enabled, jitterSeconds, missed, job: scheduledJob(job) };
    return request.answer(query, this.createSchedule, [caller, fields], (one) => presentDetail(one, this.scheduler));
  }

  @Needs(ownObjects)
  @Post('preview')
  @Describe('The next planned times of a cron expression. Changes nothing.', answer(200, SchedulePreviewView))
  @HttpCode(200)
  preview(@Body() { cron, timeZone, count = PREVIEWED }: PreviewScheduleDto): SchedulePreviewView {
    const times = new PlannedTimes({ cron, timeZone }).next(count, this.clock.now());
    return { times: times.map((time) => new Date(time).toISOString()) };
  }

  @Needs(ownObjects)
  @Get(':id')
  @Describe('A schedule with its last runs.', answer(200, ScheduleDetailView))
  get(@Param() { id }: SchedulePath, @CurrentCaller() caller: Caller): ScheduleDetailView {
    return presentDetail(findSchedule(this.store, id, caller), this.scheduler);
  }

  @Needs(ownObjects)
  @Patch(':id')
  @Describe(
    'Changes a schedule. With other times, and when it is enabled, it runs at the next time from now.',
    answer(200, ScheduleDetailView),
  )
  update(
    @Param() { id }: SchedulePath,
    @Body() { job, ...fields }: UpdateScheduleDto,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<ScheduleDetailView | PlanView> {
    const update = { ...fields, ...(job && { job: scheduledJob(job) }) };
    return request.answer(query, this.updateSchedule, [caller, id, update], (one) =>
      presentDetail(one, this.scheduler),
    );
  }

  @Needs(ownObjects)
  @Delete(':id')
  @Describe('Deletes a schedule. Its running task continues, and its snapshots stay.', answer(200, StatusView))
  remove(
    @Param() { id }: SchedulePath,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.deleteSchedule, [caller, id], () => ({ status: 'removed' }));
  }

  @Needs(eachMember)
  @Post(':id/run')
  @Describe(
    'Runs a schedule now, with the rights of its owner. Its times stay as they are.',
    answer(202, ScheduledRunView),
  )
  @HttpCode(202)
  run(
    @Param() { id }: SchedulePath,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<ScheduledRunView | PlanView> {
    return request.answer(query, this.runSchedule, [caller, id], presentRun);
  }
}
