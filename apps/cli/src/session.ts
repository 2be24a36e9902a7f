import { ApiClient } from './client/api-client.js';
import { HttpClient } from './client/http-client.js';
import { chooseServer, type ServerOptions } from './config/choose-server.js';
import { ConfigFile } from './config/config-file.js';
import { Output, type OutputFormat } from './terminal/output.js';
import type { Environment } from './terminal/environment.js';

/** The options that every command has. */
export interface GlobalOptions extends ServerOptions {
  readonly output: OutputFormat;
  /** Seconds. */
  readonly timeout: number;
}

/** One run of a command. */
export class Session {
  readonly output: Output;
  readonly configFile: ConfigFile;
  private client: Promise<ApiClient> | undefined;

  constructor(
    readonly environment: Environment,
    readonly options: GlobalOptions,
    readonly version: string,
  ) {
    this.output = new Output(environment, options.output);
    this.configFile = ConfigFile.of(environment.env, environment.homeDirectory);
  }

  /** The API of the chosen service. @throws ClientError when the settings choose none */
  api(): Promise<ApiClient> {
    return (this.client ??= this.connect());
  }

  private async connect(): Promise<ApiClient> {
    const { env } = this.environment;
    // The file is not read where the command line names the server: it may be broken or missing there.
    const config = this.options.server === undefined ? await this.configFile.read() : { contexts: {} };
    const { access, notes } = chooseServer(this.options, env, config);
    for (const note of notes) this.output.note(note);
    const { version } = this;
    const timeoutMs = this.options.timeout * 1000;
    return new ApiClient(new HttpClient(access, { version, timeoutMs, signal: this.environment.interrupted }));
  }
}
