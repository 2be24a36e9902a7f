import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { everything, sharedData } from '@headgate/access';
import {
  AcceptedView,
  BackupPointPath,
  ChangeQuery,
  ProofKeyView,
  ProveBackupDto,
  SignedProofView,
  type PlanView,
} from '@headgate/api-contracts';
import { ProofSigner, ProofStore, ProvePoint } from '@headgate/backups';
import { DomainError, type SignedProof } from '@headgate/domain-contracts';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';

const DEFAULT_LIMIT_SECONDS = 300;

@Controller('api/ext/backups')
export class BackupProofsController {
  constructor(
    private readonly provePoint: ProvePoint,
    private readonly proofs: ProofStore,
    private readonly signer: ProofSigner,
  ) {}

  // As a restore: the operator's program reads everything that is on the disks.
  @Needs(everything('create'))
  @Post('targets/:target/points/:point/prove')
  @Describe(
    'Boots a backup without a network and removes it again, as a task. Stores a signed certificate. The task fails if the backup does not boot.',
    answer(202, AcceptedView),
  )
  @HttpCode(202)
  prove(
    @Param() { target, point }: BackupPointPath,
    @Body() { context, command, timeLimitSeconds = DEFAULT_LIMIT_SECONDS, readAll = true }: ProveBackupDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<AcceptedView | PlanView> {
    const wanted = {
      target,
      point,
      context,
      timeLimitMs: timeLimitSeconds * 1000,
      readAll,
      ...(command && { command: { path: command.path, args: command.args ?? [] } }),
    };
    return request.answer(query, this.provePoint, [wanted], (task) => ({ task }));
  }

  @Needs(everything('create'))
  @Get('targets/:target/points/:point/proof')
  @Describe('The signed certificate of the last boot of a backup.', answer(200, SignedProofView))
  proof(@Param() { target, point }: BackupPointPath): SignedProofView {
    const { certificate, signature } = this.find(target, point);
    return { certificate: { ...certificate, disks: [...certificate.disks] }, signature };
  }

  @Needs(everything('create'))
  @Get('targets/:target/points/:point/proof/picture')
  @Describe('The screen at the end of the last boot of a backup.', answer(200, 'image/png'))
  async picture(@Param() { target, point }: BackupPointPath, @Res() reply: FastifyReply): Promise<void> {
    this.find(target, point);
    const picture = await this.proofs.picture(target, point);
    if (!picture) throw new DomainError('PROOF_NOT_FOUND', 'The last boot of the backup has left no picture.');
    void reply.headers({ 'content-type': 'image/png', 'cache-control': 'private, no-store' }).send(picture);
  }

  @Needs(sharedData)
  @Get('proof-key')
  @Describe('The public key with which this service signs certificates of boots.', answer(200, ProofKeyView))
  async key(): Promise<ProofKeyView> {
    return { algorithm: 'Ed25519', key: await this.signer.publicKey() };
  }

  private find(target: string, point: string): SignedProof {
    const found = this.proofs.of(target, point);
    if (!found) throw new DomainError('PROOF_NOT_FOUND', 'The backup was never booted.');
    return found;
  }
}
