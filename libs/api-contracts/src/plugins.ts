import { IsBoolean, IsString } from 'class-validator';
import { IsInstanceName, Optional } from './fields.js';

/** An element of GET /api/plugins. */
export class PluginView {
  /** The name of the plugin. */
  @IsString() name!: string;
  /** One sentence about the plugin. */
  @IsString() description!: string;
  /** The installed version, or else the offered one. */
  @IsString() version!: string;
  /** Whether it is installed. */
  @IsBoolean() installed!: boolean;
  /** Whether a store offers it. */
  @IsBoolean() inStore!: boolean;
  /** The offered version when it is newer than the installed one. */
  @Optional() @IsString() availableVersion?: string;
  /** `bundled`, or the URL of the index that offers it. */
  @Optional() @IsString() origin?: string;
  /** The publisher whose signature is verified; absent for a bundled plugin. */
  @Optional() @IsString() publisher?: string;
  /** Why an installed plugin can't be used. */
  @Optional() @IsString() problem?: string;
}

/** `{name}` of a path. */
export class PluginPath {
  /** The name of the plugin. */
  @IsInstanceName() name!: string;
}

/** The response to POST /api/plugins/{name}/install. */
export class PluginInstalledView {
  /** The name of the plugin. */
  @IsString() installed!: string;
}
