/**
 * Loads the large dependencies before tsx hooks itself into Node's loader (`--import` this, then tsx): each of
 * TypeBox's some 400 files would make the way through those hooks, for nothing, since only our own files are
 * TypeScript. It takes a third off the time of a synth.
 */
import 'ajv';
import 'cdk8s-plus-28';
import 'typebox';
import 'yaml';
