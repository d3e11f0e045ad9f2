/**
 * The queries of Grafana's dashboard 4701 "JVM (Micrometer)", revisions 9 and 10, as facts; `$me` stands for
 * `application="$application", instance="$instance"`, `$id` for each value of the dashboard's variable of that panel.
 */

/** Queries by panel; every one of them has to find a series. */
export const QUERIES: Readonly<Record<string, readonly string[]>> = {
  'Restart annotation': ['resets(process_uptime_seconds{$me}[1m])'],
  Uptime: ['process_uptime_seconds{$me}'],
  'Start time': ['process_start_time_seconds{$me}*1000'],
  'Heap used': [
    'sum(jvm_memory_used_bytes{$me, area="heap"})*100/sum(jvm_memory_max_bytes{application="$application",instance="$instance", area="heap"})',
  ],
  'Non-Heap used': [
    'sum(jvm_memory_used_bytes{$me, area="nonheap"})*100/sum(jvm_memory_max_bytes{$me, area="nonheap"})',
  ],
  Rate: ['sum(rate(http_server_requests_seconds_count{$me}[1m]))'],
  Errors: ['sum(rate(http_server_requests_seconds_count{$me, status=~"5.."}[1m]))'],
  Duration: [
    'sum(rate(http_server_requests_seconds_sum{$me, status!~"5.."}[1m]))/sum(rate(http_server_requests_seconds_count{$me, status!~"5.."}[1m]))',
    'max(http_server_requests_seconds_max{$me, status!~"5.."})',
  ],
  'JVM Heap': [
    'sum(jvm_memory_used_bytes{$me, area="heap"})',
    'sum(jvm_memory_committed_bytes{$me, area="heap"})',
    'sum(jvm_memory_max_bytes{$me, area="heap"})',
  ],
  'JVM Non-Heap': [
    'sum(jvm_memory_used_bytes{$me, area="nonheap"})',
    'sum(jvm_memory_committed_bytes{$me, area="nonheap"})',
    'sum(jvm_memory_max_bytes{$me, area="nonheap"})',
  ],
  'JVM Total': [
    'sum(jvm_memory_used_bytes{$me})',
    'sum(jvm_memory_committed_bytes{$me})',
    'sum(jvm_memory_max_bytes{$me})',
  ],
  'JVM Process Memory': [
    'process_memory_vss_bytes{$me}',
    'process_memory_rss_bytes{$me}',
    'process_memory_swap_bytes{$me}',
    'process_memory_rss_bytes{$me} + process_memory_swap_bytes{$me}',
  ],
  'CPU Usage': [
    'system_cpu_usage{$me}',
    'process_cpu_usage{$me}',
    'avg_over_time(process_cpu_usage{$me}[15m])',
    'avg_over_time(process_cpu_usage{$me}[1h])',
  ],
  Load: ['system_load_average_1m{$me}', 'system_cpu_count{$me}'],
  Threads: [
    'jvm_threads_live_threads{$me}',
    'jvm_threads_daemon_threads{$me}',
    'jvm_threads_peak_threads{$me}',
    'process_threads{$me}',
  ],
  'Thread States': ['jvm_threads_states_threads{$me}'],
  'GC Pressure': [
    'sum(rate(jvm_gc_pause_seconds_sum{$me}[1m])) by (application, instance) / on(application, instance) system_cpu_count',
  ],
  'Log Events': ['increase(logback_events_total{$me}[1m])'],
  'File Descriptors': ['process_files_open_files{$me}', 'process_files_max_files{$me}'],
  Collections: ['rate(jvm_gc_pause_seconds_count{$me}[1m])'],
  'Pause Durations': [
    'rate(jvm_gc_pause_seconds_sum{$me}[1m])/rate(jvm_gc_pause_seconds_count{$me}[1m])',
    'jvm_gc_pause_seconds_max{$me}',
  ],
  'Allocated/Promoted': [
    'rate(jvm_gc_memory_allocated_bytes_total{$me}[1m])',
    'rate(jvm_gc_memory_promoted_bytes_total{$me}[1m])',
  ],
};

/** Panels that are repeated for each value that a query gives a label. */
export const REPEATED: Readonly<
  Record<string, { readonly values: string; readonly label: string; readonly queries: readonly string[] }>
> = {
  'JVM Memory Pools (Heap)': {
    values: 'jvm_memory_used_bytes{$me, area="heap"}',
    label: 'id',
    queries: [
      'jvm_memory_used_bytes{$me, id="$id"}',
      'jvm_memory_committed_bytes{$me, id="$id"}',
      'jvm_memory_max_bytes{$me, id="$id"}',
    ],
  },
  'JVM Memory Pools (Non-Heap)': {
    values: 'jvm_memory_used_bytes{$me, area="nonheap"}',
    label: 'id',
    queries: [
      'jvm_memory_used_bytes{$me, id="$id"}',
      'jvm_memory_committed_bytes{$me, id="$id"}',
      'jvm_memory_max_bytes{$me, id="$id"}',
    ],
  },
  'Buffer Pools': {
    values: 'jvm_buffer_memory_used_bytes{$me}',
    label: 'id',
    queries: ['jvm_buffer_memory_used_bytes{$me, id="$id"}', 'jvm_buffer_total_capacity_bytes{$me, id="$id"}'],
  },
};

/** Queries of the dashboard that find nothing here, and why. */
export const WITHOUT_COUNTERPART: Readonly<Record<string, string>> = {
  'tomcat_threads_busy_threads{$me}': 'there is no Tomcat',
  'tomcat_threads_current_threads{$me}': 'there is no Tomcat',
  'tomcat_threads_config_max_threads{$me}': 'there is no Tomcat',
  'jetty_threads_busy{$me}': 'there is no Jetty',
  'jetty_threads_current{$me}': 'there is no Jetty',
  'jetty_threads_config_max{$me}': 'there is no Jetty',
  'jvm_classes_loaded_classes{$me}': 'V8 loads no classes, and does not tell what it compiled',
  'delta(jvm_classes_loaded_classes{$me}[1m])': 'as jvm_classes_loaded_classes',
  'jvm_buffer_count_buffers{$me}': 'V8 counts the bytes of buffers, not the buffers',
  'process_memory_pss_bytes{$me}':
    'the kernel takes milliseconds to share memory out among processes; resident memory is exported',
};
