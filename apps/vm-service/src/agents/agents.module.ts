import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { ApiTokens, StopAgents } from '@headgate/access';
import { ApiTokenStore, Audit, Clock, InstanceDirectory } from '@headgate/domain-contracts';
import { Agents, BudgetFacts, Budgets, Rehearsals } from '@headgate/rehearsals';
import { AccessModule } from '../access/access.module.js';
import { BulkModule } from '../bulk/bulk.module.js';
import { InstanceActionsModule } from '../bulk/instance-actions.module.js';
import { ClusterModule } from '../cluster/cluster.module.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { HardwareModule } from '../hardware/hardware.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { SnapshotsModule } from '../snapshots/snapshots.module.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { AdmittedAgents } from './admitted-agents.js';
import { AgentActions } from './agent-actions.js';
import { AgentsController } from './agents.controller.js';
import { ApprovalsController } from './approvals.controller.js';
import { FleetBudgetFacts } from './fleet-budget-facts.js';
import { AgentTools } from './mcp/agent-tools.js';
import { McpController } from './mcp/mcp.controller.js';
import { McpSessions } from './mcp/mcp-sessions.js';
import { Twins } from './twin/twins.js';
import { TwinsController } from './twins.controller.js';

/** Agents: what they rehearse and commit, who approves it, and the server of their protocol. */
@Module({
  imports: [
    StoreModule,
    AccessModule,
    IdentityModule,
    FleetModule,
    FolderTreeModule,
    TasksModule,
    SnapshotsModule,
    HardwareModule,
    InstanceActionsModule,
    BulkModule,
    ClusterModule,
  ],
  controllers: [McpController, ApprovalsController, AgentsController, TwinsController],
  providers: [
    provideDeps(StopAgents, { tokens: ApiTokens, store: ApiTokenStore, audit: Audit }),
    { provide: Agents, useClass: AdmittedAgents },
    { provide: BudgetFacts, useClass: FleetBudgetFacts },
    provideClass(Budgets, [BudgetFacts, Clock]),
    provideDeps(Rehearsals, {
      agents: Agents,
      budgets: Budgets,
      directory: InstanceDirectory,
      audit: Audit,
      clock: Clock,
    }),
    AgentActions,
    Twins,
    AgentTools,
    McpSessions,
  ],
})
export class AgentsModule implements OnApplicationShutdown {
  constructor(private readonly rehearsals: Rehearsals) {}

  onApplicationShutdown(): void {
    this.rehearsals.close();
  }
}
