/** Timing of one Kubernetes probe, in seconds; the field names are the Pod API's. */
export interface ProbeTiming {
  readonly initialDelaySeconds: number;
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
}

/** Restarts a Pod that has been unhealthy for about 90 s. */
export const LIVENESS_PROBE: ProbeTiming = {
  initialDelaySeconds: 60,
  periodSeconds: 30,
  timeoutSeconds: 10,
  failureThreshold: 3,
};

/** Takes a Pod out of its Service after about 30 s. */
export const READINESS_PROBE: ProbeTiming = {
  initialDelaySeconds: 30,
  periodSeconds: 10,
  timeoutSeconds: 5,
  failureThreshold: 3,
};

/** Only where consumer.yaml has one: restarts a Pod that has not been healthy once within 60 s. */
export const STARTUP_PROBE: ProbeTiming = {
  initialDelaySeconds: 0,
  periodSeconds: 5,
  timeoutSeconds: 5,
  failureThreshold: 12,
};

/** Timing of the image's own HEALTHCHECK (Docker's words, seconds). */
export const CONTAINER_HEALTH_CHECK = {
  intervalSeconds: 30,
  timeoutSeconds: 10,
  retries: 3,
  startPeriodSeconds: 60,
} as const;
