import 'reflect-metadata';
import { CreateVmDto } from '@headgate/api-contracts';
import { SystemClock } from '@headgate/domain-contracts';
import { Fleet, FleetReader } from '@headgate/fleet';
import { KubeBackend } from '@headgate/kube-adapter';
import { KubeSandbox } from '@headgate/kube-sandbox';
import { KubevirtSimulation } from '@headgate/kubevirt-sandbox';
import { bySource, LimitsModule, RateLimit } from '@headgate/limits-nest';
import { Body, Controller, Get, Module, Post, ValidationPipe, type OnModuleDestroy } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';

/** A fleet over a simulated cluster. */
class Cluster extends Fleet implements OnModuleDestroy {
  private constructor(
    private readonly sandbox: KubeSandbox,
    private readonly backend: KubeBackend,
    clock: SystemClock,
  ) {
    super({ clock, present: ({ instance }) => instance.ref.name });
  }

  static async open(): Promise<Cluster> {
    const clock = new SystemClock();
    const simulation = new KubevirtSimulation();
    const sandbox = await KubeSandbox.listen({ extensions: [simulation] });
    simulation.seedFleet(25);
    const kubeconfig = { text: sandbox.kubeconfig() };
    const backend = KubeBackend.open({ context: 'lab', kubeconfig, clock });
    const cluster = new Cluster(sandbox, backend, clock);
    cluster.attach(backend);
    await cluster.whenSynced();
    return cluster;
  }

  async onModuleDestroy(): Promise<void> {
    await this.close();
    await this.backend.close();
    await this.sandbox.close();
  }
}

@Controller('vms')
class VmsController {
  constructor(private readonly fleet: FleetReader) {}

  @Get()
  list(): { count: number } {
    return { count: this.fleet.count('vm') };
  }

  @Post()
  @RateLimit('vms.create', { limit: 2, windowMs: 60_000, key: bySource() })
  create(@Body() { name, cpu = 1 }: CreateVmDto): { name: string; cpu: number } {
    return { name, cpu };
  }
}

@Module({
  imports: [LimitsModule.forRoot()],
  controllers: [VmsController],
  providers: [
    { provide: Cluster, useFactory: () => Cluster.open() },
    { provide: FleetReader, useExisting: Cluster },
  ],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), { logger: false });
  app.useGlobalPipes(new ValidationPipe({ transform: true, forbidNonWhitelisted: true, whitelist: true }));
  await app.init();
  const { body } = await app.inject({ method: 'GET', url: '/vms' });
  const statuses: number[] = [];
  for (const payload of [{ name: 'web' }, { name: '-web' }, { name: 'db' }]) {
    statuses.push((await app.inject({ method: 'POST', url: '/vms', payload })).statusCode);
  }
  await app.close();
  console.log(JSON.stringify({ list: JSON.parse(body) as object, statuses }));
}

void main();
