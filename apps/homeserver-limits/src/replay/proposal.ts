import { ConfigError } from '@headgate/nest-kit';
import { MatrixError } from '@headgate/matrix-protocol';
import { parseConfig } from '../config/config.js';
import { eachRecentLine } from './recorded-log.js';
import { Replay } from './replay.js';
import { type JsonReport, toJson } from './report.js';

const MAX_LOG_BYTES = 64 * 1024 * 1024;
const MAX_DURATION_MS = 60_000;
const TOP_KEYS = 10;

export interface ProposalReport extends JsonReport {
  /** Whether the log has older requests, which were left out. */
  readonly isPart: boolean;
}

/** Tries proposed rules on the recorded requests, one proposal at a time. */
export class Proposals {
  private isRunning = false;

  /** @param logFile the request log, if one is recorded */
  constructor(
    private readonly logFile: () => string | undefined,
    private readonly maxBytes = MAX_LOG_BYTES,
  ) {}

  /**
   * @param toml a configuration, of which only the rates, rules and exemptions are used
   * @param canceled aborts when the caller is gone
   * @throws MatrixError M_INVALID_PARAM with the problems; 404 without a log; 429 while another proposal is tried
   */
  async try(toml: string, canceled: AbortSignal): Promise<ProposalReport> {
    const path = this.logFile();
    if (path === undefined) throw MatrixError.notFound('Set log.requests_file: no requests are recorded.');
    const replay = new Replay(rulesIn(toml));
    if (this.isRunning) throw new MatrixError(429, 'M_LIMIT_EXCEEDED', 'Another proposal is being tried; try again.');
    this.isRunning = true;
    try {
      const signal = AbortSignal.any([canceled, AbortSignal.timeout(MAX_DURATION_MS)]);
      const isPart = await eachRecentLine(path, { maxBytes: this.maxBytes, signal }, (line) => void replay.play(line));
      return { ...toJson(replay.report, TOP_KEYS), isPart };
    } catch (error) {
      throw asMatrixError(error);
    } finally {
      this.isRunning = false;
    }
  }
}

function rulesIn(toml: string) {
  try {
    const { ratelimit, rules } = parseConfig(toml, 'the proposal');
    return ratelimit.enabled ? rules : { ...rules, rules: [] };
  } catch (error) {
    if (error instanceof ConfigError) throw MatrixError.invalidParam(error.problems.join('; '));
    throw error;
  }
}

function asMatrixError(error: unknown): unknown {
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError' || name === 'AbortError')
    return new MatrixError(503, 'M_UNKNOWN', `The replay took longer than ${MAX_DURATION_MS / 1000} seconds.`);
  return code === undefined ? error : MatrixError.notFound(`The request log cannot be read: ${code}.`);
}
