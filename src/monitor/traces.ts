/**
 * Traces by OpenTelemetry: a span for each sampled request, sent to a collector in batches after
 * the answers. Spans contain no more than the request log does without further settings.
 */
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  defaultTextMapGetter,
  diag,
  trace,
  type Attributes,
  type Context,
  type DiagLogger,
  type Tracer,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { TraceConfig } from '../config.js';
import { PRECISIONS } from '../engine/situs.js';
import type { RequestLine, RequestSink } from '../http/front.js';
import { messageOf, type Log } from '../log.js';

/** How many spans may wait for a collector; further ones are dropped. */
const QUEUE_MAX = 8_192;
const BATCH_MAX = 512;
const EXPORT_MS_MAX = 2_000;
/** The path below a collector's address that accepts traces (OTLP specification, HTTP). */
const TRACES_PATH = '/v1/traces';
const FAILED_FROM = 500;

/** Logs that a collector does not answer; the service does not wait for it. */
function telling(log: Log): DiagLogger {
  const warn = (message: string): void => log.warn('traces not sent', { message });
  const none = (): void => undefined;
  return { error: warn, warn, info: none, debug: none, verbose: none };
}

function attributesOf(line: RequestLine, operation: string): Attributes {
  const { method, status, code, precision, dataset, keyPrefix, requestId } = line;
  const [, route = ''] = operation.split(' ');
  return {
    'http.request.method': method,
    'http.response.status_code': status,
    ...(route === '' ? {} : { 'http.route': route }),
    ...(code === 0
      ? {}
      : {
          'situs.code': code,
          'situs.precision': PRECISIONS[precision] ?? 'none',
        }),
    ...(dataset === '' ? {} : { 'situs.dataset': dataset }),
    ...(keyPrefix === '' ? {} : { 'situs.key': keyPrefix }),
    ...(requestId === '' ? {} : { 'situs.request_id': requestId }),
  };
}

export class Traces implements RequestSink {
  readonly addresses = false;
  readonly traces = true;
  /** Names of operations by their index. */
  operations: readonly string[] = [];
  readonly #every: number;
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;
  readonly #log: Log;
  readonly #context = new W3CTraceContextPropagator();
  #passed = 0;

  /** Sends to the collector at `url`, an http or https address without the path for traces. */
  constructor({ url, every }: TraceConfig, version: string, log: Log) {
    diag.setLogger(telling(log));
    // The library's own handler would log an error as JSON with its stack, in the text of the line.
    setGlobalErrorHandler((error) => log.warn('traces not sent', { message: messageOf(error) }));
    const exporter = new OTLPTraceExporter({
      url: url.replace(/\/$/, '') + TRACES_PATH,
      timeoutMillis: EXPORT_MS_MAX,
    });
    this.#every = every;
    this.#log = log;
    this.#provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ 'service.name': 'situs', 'service.version': version }),
      sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
      spanProcessors: [
        new BatchSpanProcessor(exporter, {
          maxQueueSize: QUEUE_MAX,
          maxExportBatchSize: BATCH_MAX,
          exportTimeoutMillis: EXPORT_MS_MAX,
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer('situs');
  }

  /** Takes one in so many requests. For a request that belongs to a trace, the trace decides. */
  told(line: RequestLine): void {
    const { traceparent } = line;
    const parent: Context =
      traceparent === ''
        ? ROOT_CONTEXT
        : this.#context.extract(ROOT_CONTEXT, { traceparent }, defaultTextMapGetter);
    // A context that cannot be read is none.
    if (trace.getSpanContext(parent) === undefined) {
      this.#passed += 1;
      if (this.#passed < this.#every) return;
      this.#passed = 0;
    }
    const ended = Date.now();
    const operation = this.operations[line.operation] ?? '';
    const span = this.#tracer.startSpan(
      operation === '' ? line.method : operation,
      {
        kind: SpanKind.SERVER,
        startTime: ended - line.microseconds / 1_000,
        attributes: attributesOf(line, operation),
      },
      parent,
    );
    if (line.status >= FAILED_FROM) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(ended);
  }

  /** Sends the spans that wait, for a few seconds at most. */
  async close(): Promise<void> {
    await this.#provider
      .shutdown()
      .catch((error: unknown) => this.#log.warn('traces not sent', { message: messageOf(error) }));
    diag.disable();
  }
}
