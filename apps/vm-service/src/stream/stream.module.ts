import { Module } from '@nestjs/common';
import { ClusterModule } from '../cluster/cluster.module.js';
import { DoctorModule } from '../doctor/doctor.module.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { FoldersModule } from '../folders/folders.module.js';
import { JournalModule } from '../journal/journal.module.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { StreamController } from './stream.controller.js';
import { TopicStreams } from './topic-streams.js';
import { Topics } from './topics/topics.js';

/** The event stream of a page: instances, usage, tasks, folders, contexts, health and activity. */
@Module({
  imports: [
    FleetModule,
    FolderTreeModule,
    TasksModule,
    FoldersModule,
    ClusterModule,
    DoctorModule,
    JournalModule,
    StoreModule,
  ],
  controllers: [StreamController],
  providers: [Topics, TopicStreams],
})
export class StreamModule {}
