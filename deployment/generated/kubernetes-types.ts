// Written by npm run generate out of the schemas that Kubernetes publishes (Apache-2.0); never edited.

import type { SchemaNode } from '../../settings/schema/schema.ts';

/** What Kubernetes 1.35 takes as a part of a Pod, by the name of its type; unknown fields are refused. */
export const KUBERNETES_TYPES = {
 "Affinity": {
  "properties": {
   "nodeAffinity": {
    "properties": {
     "preferredDuringSchedulingIgnoredDuringExecution": {
      "items": {
       "properties": {
        "preference": {
         "properties": {
          "matchExpressions": {
           "items": {
            "properties": {
             "key": {
              "type": "string",
              "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
              "x-allowed": "a label's name, such as team or example.com/team"
             },
             "operator": {
              "type": "string",
              "enum": [
               "In",
               "NotIn",
               "Exists",
               "DoesNotExist",
               "Gt",
               "Lt"
              ]
             },
             "values": {
              "items": {
               "type": "string",
               "pattern": "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$",
               "x-allowed": "a label's value: at most 63 letters, digits, dashes, underscores and dots"
              },
              "type": "array"
             }
            },
            "required": [
             "key",
             "operator"
            ],
            "type": "object",
            "additionalProperties": false
           },
           "type": "array"
          },
          "matchFields": {
           "items": {
            "properties": {
             "key": {
              "type": "string",
              "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
              "x-allowed": "a label's name, such as team or example.com/team"
             },
             "operator": {
              "type": "string",
              "enum": [
               "In",
               "NotIn",
               "Exists",
               "DoesNotExist",
               "Gt",
               "Lt"
              ]
             },
             "values": {
              "items": {
               "type": "string",
               "pattern": "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$",
               "x-allowed": "a label's value: at most 63 letters, digits, dashes, underscores and dots"
              },
              "type": "array"
             }
            },
            "required": [
             "key",
             "operator"
            ],
            "type": "object",
            "additionalProperties": false
           },
           "type": "array"
          }
         },
         "type": "object",
         "additionalProperties": false
        },
        "weight": {
         "type": "integer",
         "minimum": 1,
         "maximum": 100
        }
       },
       "required": [
        "weight",
        "preference"
       ],
       "type": "object",
       "additionalProperties": false
      },
      "type": "array"
     },
     "requiredDuringSchedulingIgnoredDuringExecution": {
      "properties": {
       "nodeSelectorTerms": {
        "items": {
         "properties": {
          "matchExpressions": {
           "items": {
            "properties": {
             "key": {
              "type": "string",
              "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
              "x-allowed": "a label's name, such as team or example.com/team"
             },
             "operator": {
              "type": "string",
              "enum": [
               "In",
               "NotIn",
               "Exists",
               "DoesNotExist",
               "Gt",
               "Lt"
              ]
             },
             "values": {
              "items": {
               "type": "string",
               "pattern": "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$",
               "x-allowed": "a label's value: at most 63 letters, digits, dashes, underscores and dots"
              },
              "type": "array"
             }
            },
            "required": [
             "key",
             "operator"
            ],
            "type": "object",
            "additionalProperties": false
           },
           "type": "array"
          },
          "matchFields": {
           "items": {
            "properties": {
             "key": {
              "type": "string",
              "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
              "x-allowed": "a label's name, such as team or example.com/team"
             },
             "operator": {
              "type": "string",
              "enum": [
               "In",
               "NotIn",
               "Exists",
               "DoesNotExist",
               "Gt",
               "Lt"
              ]
             },
             "values": {
              "items": {
               "type": "string",
               "pattern": "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$",
               "x-allowed": "a label's value: at most 63 letters, digits, dashes, underscores and dots"
              },
              "type": "array"
             }
            },
            "required": [
             "key",
             "operator"
            ],
            "type": "object",
            "additionalProperties": false
           },
           "type": "array"
          }
         },
         "type": "object",
         "additionalProperties": false
        },
        "type": "array"
       }
      },
      "required": [
       "nodeSelectorTerms"
      ],
      "type": "object",
      "additionalProperties": false
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "podAffinity": {
    "properties": {
     "preferredDuringSchedulingIgnoredDuringExecution": {
      "items": {
       "properties": {
        "podAffinityTerm": {
         "properties": {
          "labelSelector": {
           "properties": {
            "matchExpressions": {
             "items": {
              "properties": {
               "key": {
                "type": "string",
                "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
                "x-allowed": "a label's name, such as team or example.com/team"
               },
               "operator": {
                "type": "string",
                "enum": [
                 "In",
                 "NotIn",
                 "Exists",
                 "DoesNotExist"
                ]
               },
               "values": {
                "items": {
                 "type": "string"
                },
                "type": "array"
               }
              },
              "required": [
               "key",
               "operator"
              ],
              "type": "object",
              "additionalProperties": false
             },
             "type": "array"
            },
            "matchLabels": {
             "type": "object",
             "additionalProperties": {
              "type": "string"
             }
            }
           },
           "type": "object",
           "additionalProperties": false
          },
          "matchLabelKeys": {
           "items": {
            "type": "string"
           },
           "type": "array"
          },
          "mismatchLabelKeys": {
           "items": {
            "type": "string"
           },
           "type": "array"
          },
          "namespaceSelector": {
           "properties": {
            "matchExpressions": {
             "items": {
              "properties": {
               "key": {
                "type": "string",
                "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
                "x-allowed": "a label's name, such as team or example.com/team"
               },
               "operator": {
                "type": "string",
                "enum": [
                 "In",
                 "NotIn",
                 "Exists",
                 "DoesNotExist"
                ]
               },
               "values": {
                "items": {
                 "type": "string"
                },
                "type": "array"
               }
              },
              "required": [
               "key",
               "operator"
              ],
              "type": "object",
              "additionalProperties": false
             },
             "type": "array"
            },
            "matchLabels": {
             "type": "object",
             "additionalProperties": {
              "type": "string"
             }
            }
           },
           "type": "object",
           "additionalProperties": false
          },
          "namespaces": {
           "items": {
            "type": "string",
            "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
            "maxLength": 63,
            "x-allowed": "a name of at most 63 lower-case letters, digits and dashes"
           },
           "type": "array"
          },
          "topologyKey": {
           "type": "string",
           "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
           "x-allowed": "a label's name, such as team or example.com/team"
          }
         },
         "required": [
          "topologyKey"
         ],
         "type": "object",
         "additionalProperties": false
        },
        "weight": {
         "type": "integer",
         "minimum": 1,
         "maximum": 100
        }
       },
       "required": [
        "weight",
        "podAffinityTerm"
       ],
       "type": "object",
       "additionalProperties": false
      },
      "type": "array"
     },
     "requiredDuringSchedulingIgnoredDuringExecution": {
      "items": {
       "properties": {
        "labelSelector": {
         "properties": {
          "matchExpressions": {
           "items": {
            "properties": {
             "key": {
              "type": "string",
              "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
              "x-allowed": "a label's name, such as team or example.com/team"
             },
             "operator": {
              "type": "string",
              "enum": [
               "In",
               "NotIn",
               "Exists",
               "DoesNotExist"
              ]
             },
             "values": {
              "items": {
               "type": "string"
              },
              "type": "array"
             }
            },
            "required": [
             "key",
             "operator"
            ],
            "type": "object",
            "additionalProperties": false
           },
           "type": "array"
          },
          "matchLabels": {
           "type": "object",
           "additionalProperties": {
            "type": "string"
           }
          }
         },
         "type": "object",
         "additionalProperties": false
        },
        "matchLabelKeys": {
         "items": {
          "type": "string"
         },
         "type": "array"
        },
        "mismatchLabelKeys": {
         "items": {
          "type": "string"
         },
         "type": "array"
        },
        "namespaceSelector": {
         "properties": {
          "matchExpressions": {
           "items": {
            "properties": {
             "key": {
              "type": "string",
              "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
              "x-allowed": "a label's name, such as team or example.com/team"
             },
             "operator": {
              "type": "string",
              "enum": [
               "In",
               "NotIn",
               "Exists",
               "DoesNotExist"
              ]
             },
             "values": {
              "items": {
               "type": "string"
              },
              "type": "array"
             }
            },
            "required": [
             "key",
             "operator"
            ],
            "type": "object",
            "additionalProperties": false
           },
           "type": "array"
          },
          "matchLabels": {
           "type": "object",
           "additionalProperties": {
            "type": "string"
           }
          }
         },
         "type": "object",
         "additionalProperties": false
        },
        "namespaces": {
         "items": {
          "type": "string",
          "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
          "maxLength": 63,
          "x-allowed": "a name of at most 63 lower-case letters, digits and dashes"
         },
         "type": "array"
        },
        "topologyKey": {
         "type": "string",
         "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
         "x-allowed": "a label's name, such as team or example.com/team"
        }
       },
       "required": [
        "topologyKey"
       ],
       "type": "object",
       "additionalProperties": false
      },
      "type": "array"
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "podAntiAffinity": {
    "properties": {
     "preferredDuringSchedulingIgnoredDuringExecution": {
      "items": {
       "properties": {
        "podAffinityTerm": {
         "properties": {
          "labelSelector": {
           "properties": {
            "matchExpressions": {
             "items": {
              "properties": {
               "key": {
                "type": "string",
                "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
                "x-allowed": "a label's name, such as team or example.com/team"
               },
               "operator": {
                "type": "string",
                "enum": [
                 "In",
                 "NotIn",
                 "Exists",
                 "DoesNotExist"
                ]
               },
               "values": {
                "items": {
                 "type": "string"
                },
                "type": "array"
               }
              },
              "required": [
               "key",
               "operator"
              ],
              "type": "object",
              "additionalProperties": false
             },
             "type": "array"
            },
            "matchLabels": {
             "type": "object",
             "additionalProperties": {
              "type": "string"
             }
            }
           },
           "type": "object",
           "additionalProperties": false
          },
          "matchLabelKeys": {
           "items": {
            "type": "string"
           },
           "type": "array"
          },
          "mismatchLabelKeys": {
           "items": {
            "type": "string"
           },
           "type": "array"
          },
          "namespaceSelector": {
           "properties": {
            "matchExpressions": {
             "items": {
              "properties": {
               "key": {
                "type": "string",
                "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
                "x-allowed": "a label's name, such as team or example.com/team"
               },
               "operator": {
                "type": "string",
                "enum": [
                 "In",
                 "NotIn",
                 "Exists",
                 "DoesNotExist"
                ]
               },
               "values": {
                "items": {
                 "type": "string"
                },
                "type": "array"
               }
              },
              "required": [
               "key",
               "operator"
              ],
              "type": "object",
              "additionalProperties": false
             },
             "type": "array"
            },
            "matchLabels": {
             "type": "object",
             "additionalProperties": {
              "type": "string"
             }
            }
           },
           "type": "object",
           "additionalProperties": false
          },
          "namespaces": {
           "items": {
            "type": "string",
            "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
            "maxLength": 63,
            "x-allowed": "a name of at most 63 lower-case letters, digits and dashes"
           },
           "type": "array"
          },
          "topologyKey": {
           "type": "string",
           "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
           "x-allowed": "a label's name, such as team or example.com/team"
          }
         },
         "required": [
          "topologyKey"
         ],
         "type": "object",
         "additionalProperties": false
        },
        "weight": {
         "type": "integer",
         "minimum": 1,
         "maximum": 100
        }
       },
       "required": [
        "weight",
        "podAffinityTerm"
       ],
       "type": "object",
       "additionalProperties": false
      },
      "type": "array"
     },
     "requiredDuringSchedulingIgnoredDuringExecution": {
      "items": {
       "properties": {
        "labelSelector": {
         "properties": {
          "matchExpressions": {
           "items": {
            "properties": {
             "key": {
              "type": "string",
              "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
              "x-allowed": "a label's name, such as team or example.com/team"
             },
             "operator": {
              "type": "string",
              "enum": [
               "In",
               "NotIn",
               "Exists",
               "DoesNotExist"
              ]
             },
             "values": {
              "items": {
               "type": "string"
              },
              "type": "array"
             }
            },
            "required": [
             "key",
             "operator"
            ],
            "type": "object",
            "additionalProperties": false
           },
           "type": "array"
          },
          "matchLabels": {
           "type": "object",
           "additionalProperties": {
            "type": "string"
           }
          }
         },
         "type": "object",
         "additionalProperties": false
        },
        "matchLabelKeys": {
         "items": {
          "type": "string"
         },
         "type": "array"
        },
        "mismatchLabelKeys": {
         "items": {
          "type": "string"
         },
         "type": "array"
        },
        "namespaceSelector": {
         "properties": {
          "matchExpressions": {
           "items": {
            "properties": {
             "key": {
              "type": "string",
              "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
              "x-allowed": "a label's name, such as team or example.com/team"
             },
             "operator": {
              "type": "string",
              "enum": [
               "In",
               "NotIn",
               "Exists",
               "DoesNotExist"
              ]
             },
             "values": {
              "items": {
               "type": "string"
              },
              "type": "array"
             }
            },
            "required": [
             "key",
             "operator"
            ],
            "type": "object",
            "additionalProperties": false
           },
           "type": "array"
          },
          "matchLabels": {
           "type": "object",
           "additionalProperties": {
            "type": "string"
           }
          }
         },
         "type": "object",
         "additionalProperties": false
        },
        "namespaces": {
         "items": {
          "type": "string",
          "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
          "maxLength": 63,
          "x-allowed": "a name of at most 63 lower-case letters, digits and dashes"
         },
         "type": "array"
        },
        "topologyKey": {
         "type": "string",
         "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
         "x-allowed": "a label's name, such as team or example.com/team"
        }
       },
       "required": [
        "topologyKey"
       ],
       "type": "object",
       "additionalProperties": false
      },
      "type": "array"
     }
    },
    "type": "object",
    "additionalProperties": false
   }
  },
  "type": "object",
  "additionalProperties": false
 },
 "Container": {
  "properties": {
   "args": {
    "items": {
     "type": "string"
    },
    "type": "array"
   },
   "command": {
    "items": {
     "type": "string"
    },
    "type": "array"
   },
   "env": {
    "items": {
     "properties": {
      "name": {
       "type": "string",
       "pattern": "^[ -<>-~]+$",
       "x-allowed": "the name of a variable: printable ASCII without ="
      },
      "value": {
       "type": "string"
      },
      "valueFrom": {
       "properties": {
        "configMapKeyRef": {
         "properties": {
          "key": {
           "type": "string",
           "pattern": "^(?!\\.\\.)(?!\\.$)[-._a-zA-Z0-9]{1,253}$",
           "x-allowed": "a key of a Secret or ConfigMap: letters, digits, and any of - _ ."
          },
          "name": {
           "type": "string",
           "pattern": "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
           "maxLength": 253,
           "x-allowed": "the name of a Kubernetes object: lower-case letters, digits, dashes and dots"
          },
          "optional": {
           "type": "boolean"
          }
         },
         "required": [
          "key"
         ],
         "type": "object",
         "additionalProperties": false
        },
        "fieldRef": {
         "properties": {
          "apiVersion": {
           "type": "string"
          },
          "fieldPath": {
           "type": "string"
          }
         },
         "required": [
          "fieldPath"
         ],
         "type": "object",
         "additionalProperties": false
        },
        "fileKeyRef": {
         "properties": {
          "key": {
           "type": "string"
          },
          "optional": {
           "type": "boolean"
          },
          "path": {
           "type": "string"
          },
          "volumeName": {
           "type": "string"
          }
         },
         "required": [
          "volumeName",
          "path",
          "key"
         ],
         "type": "object",
         "additionalProperties": false
        },
        "resourceFieldRef": {
         "properties": {
          "containerName": {
           "type": "string"
          },
          "divisor": {
           "anyOf": [
            {
             "type": "string",
             "pattern": "^[+-]?[0-9]+(\\.[0-9]+)?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
            },
            {
             "type": "number"
            }
           ],
           "x-allowed": "an amount such as 100m, 64Mi or 1"
          },
          "resource": {
           "type": "string"
          }
         },
         "required": [
          "resource"
         ],
         "type": "object",
         "additionalProperties": false
        },
        "secretKeyRef": {
         "properties": {
          "key": {
           "type": "string",
           "pattern": "^(?!\\.\\.)(?!\\.$)[-._a-zA-Z0-9]{1,253}$",
           "x-allowed": "a key of a Secret or ConfigMap: letters, digits, and any of - _ ."
          },
          "name": {
           "type": "string",
           "pattern": "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
           "maxLength": 253,
           "x-allowed": "the name of a Kubernetes object: lower-case letters, digits, dashes and dots"
          },
          "optional": {
           "type": "boolean"
          }
         },
         "required": [
          "key"
         ],
         "type": "object",
         "additionalProperties": false
        }
       },
       "type": "object",
       "additionalProperties": false
      }
     },
     "required": [
      "name"
     ],
     "type": "object",
     "additionalProperties": false
    },
    "type": "array"
   },
   "envFrom": {
    "items": {
     "properties": {
      "configMapRef": {
       "properties": {
        "name": {
         "type": "string",
         "pattern": "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
         "maxLength": 253,
         "x-allowed": "the name of a Kubernetes object: lower-case letters, digits, dashes and dots"
        },
        "optional": {
         "type": "boolean"
        }
       },
       "type": "object",
       "additionalProperties": false
      },
      "prefix": {
       "type": "string"
      },
      "secretRef": {
       "properties": {
        "name": {
         "type": "string",
         "pattern": "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
         "maxLength": 253,
         "x-allowed": "the name of a Kubernetes object: lower-case letters, digits, dashes and dots"
        },
        "optional": {
         "type": "boolean"
        }
       },
       "type": "object",
       "additionalProperties": false
      }
     },
     "type": "object",
     "additionalProperties": false
    },
    "type": "array"
   },
   "image": {
    "type": "string",
    "pattern": "^\\S+$",
    "x-allowed": "an image"
   },
   "imagePullPolicy": {
    "type": "string",
    "enum": [
     "Always",
     "IfNotPresent",
     "Never"
    ]
   },
   "lifecycle": {
    "properties": {
     "postStart": {
      "properties": {
       "exec": {
        "properties": {
         "command": {
          "items": {
           "type": "string"
          },
          "type": "array"
         }
        },
        "type": "object",
        "additionalProperties": false
       },
       "httpGet": {
        "properties": {
         "host": {
          "type": "string"
         },
         "httpHeaders": {
          "items": {
           "properties": {
            "name": {
             "type": "string"
            },
            "value": {
             "type": "string"
            }
           },
           "required": [
            "name",
            "value"
           ],
           "type": "object",
           "additionalProperties": false
          },
          "type": "array"
         },
         "path": {
          "type": "string"
         },
         "port": {
          "anyOf": [
           {
            "type": "integer",
            "minimum": 1,
            "maximum": 65535
           },
           {
            "type": "string",
            "pattern": "^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$"
           }
          ],
          "x-allowed": "a port from 1 to 65535, or the name of one"
         },
         "scheme": {
          "type": "string",
          "enum": [
           "HTTP",
           "HTTPS"
          ]
         }
        },
        "required": [
         "port"
        ],
        "type": "object",
        "additionalProperties": false
       },
       "sleep": {
        "properties": {
         "seconds": {
          "type": "integer"
         }
        },
        "required": [
         "seconds"
        ],
        "type": "object",
        "additionalProperties": false
       },
       "tcpSocket": {
        "properties": {
         "host": {
          "type": "string"
         },
         "port": {
          "anyOf": [
           {
            "type": "integer",
            "minimum": 1,
            "maximum": 65535
           },
           {
            "type": "string",
            "pattern": "^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$"
           }
          ],
          "x-allowed": "a port from 1 to 65535, or the name of one"
         }
        },
        "required": [
         "port"
        ],
        "type": "object",
        "additionalProperties": false
       }
      },
      "type": "object",
      "additionalProperties": false
     },
     "preStop": {
      "properties": {
       "exec": {
        "properties": {
         "command": {
          "items": {
           "type": "string"
          },
          "type": "array"
         }
        },
        "type": "object",
        "additionalProperties": false
       },
       "httpGet": {
        "properties": {
         "host": {
          "type": "string"
         },
         "httpHeaders": {
          "items": {
           "properties": {
            "name": {
             "type": "string"
            },
            "value": {
             "type": "string"
            }
           },
           "required": [
            "name",
            "value"
           ],
           "type": "object",
           "additionalProperties": false
          },
          "type": "array"
         },
         "path": {
          "type": "string"
         },
         "port": {
          "anyOf": [
           {
            "type": "integer",
            "minimum": 1,
            "maximum": 65535
           },
           {
            "type": "string",
            "pattern": "^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$"
           }
          ],
          "x-allowed": "a port from 1 to 65535, or the name of one"
         },
         "scheme": {
          "type": "string",
          "enum": [
           "HTTP",
           "HTTPS"
          ]
         }
        },
        "required": [
         "port"
        ],
        "type": "object",
        "additionalProperties": false
       },
       "sleep": {
        "properties": {
         "seconds": {
          "type": "integer"
         }
        },
        "required": [
         "seconds"
        ],
        "type": "object",
        "additionalProperties": false
       },
       "tcpSocket": {
        "properties": {
         "host": {
          "type": "string"
         },
         "port": {
          "anyOf": [
           {
            "type": "integer",
            "minimum": 1,
            "maximum": 65535
           },
           {
            "type": "string",
            "pattern": "^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$"
           }
          ],
          "x-allowed": "a port from 1 to 65535, or the name of one"
         }
        },
        "required": [
         "port"
        ],
        "type": "object",
        "additionalProperties": false
       }
      },
      "type": "object",
      "additionalProperties": false
     },
     "stopSignal": {
      "type": "string"
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "livenessProbe": {
    "properties": {
     "exec": {
      "properties": {
       "command": {
        "items": {
         "type": "string"
        },
        "type": "array"
       }
      },
      "type": "object",
      "additionalProperties": false
     },
     "failureThreshold": {
      "type": "integer",
      "minimum": 0
     },
     "grpc": {
      "properties": {
       "port": {
        "type": "integer",
        "minimum": 1,
        "maximum": 65535
       },
       "service": {
        "type": "string"
       }
      },
      "required": [
       "port"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "httpGet": {
      "properties": {
       "host": {
        "type": "string"
       },
       "httpHeaders": {
        "items": {
         "properties": {
          "name": {
           "type": "string"
          },
          "value": {
           "type": "string"
          }
         },
         "required": [
          "name",
          "value"
         ],
         "type": "object",
         "additionalProperties": false
        },
        "type": "array"
       },
       "path": {
        "type": "string"
       },
       "port": {
        "anyOf": [
         {
          "type": "integer",
          "minimum": 1,
          "maximum": 65535
         },
         {
          "type": "string",
          "pattern": "^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$"
         }
        ],
        "x-allowed": "a port from 1 to 65535, or the name of one"
       },
       "scheme": {
        "type": "string",
        "enum": [
         "HTTP",
         "HTTPS"
        ]
       }
      },
      "required": [
       "port"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "initialDelaySeconds": {
      "type": "integer",
      "minimum": 0
     },
     "periodSeconds": {
      "type": "integer",
      "minimum": 0
     },
     "successThreshold": {
      "type": "integer",
      "minimum": 0
     },
     "tcpSocket": {
      "properties": {
       "host": {
        "type": "string"
       },
       "port": {
        "anyOf": [
         {
          "type": "integer",
          "minimum": 1,
          "maximum": 65535
         },
         {
          "type": "string",
          "pattern": "^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$"
         }
        ],
        "x-allowed": "a port from 1 to 65535, or the name of one"
       }
      },
      "required": [
       "port"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "terminationGracePeriodSeconds": {
      "type": "integer",
      "minimum": 1
     },
     "timeoutSeconds": {
      "type": "integer",
      "minimum": 0
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "name": {
    "type": "string",
    "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    "maxLength": 63,
    "x-allowed": "a name of at most 63 lower-case letters, digits and dashes"
   },
   "ports": {
    "items": {
     "properties": {
      "containerPort": {
       "type": "integer",
       "minimum": 1,
       "maximum": 65535
      },
      "hostIP": {
       "type": "string"
      },
      "hostPort": {
       "type": "integer"
      },
      "name": {
       "type": "string",
       "pattern": "^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$",
       "x-allowed": "a name of at most 15 lower-case letters, digits and dashes"
      },
      "protocol": {
       "type": "string",
       "enum": [
        "TCP",
        "UDP",
        "SCTP"
       ]
      }
     },
     "required": [
      "containerPort"
     ],
     "type": "object",
     "additionalProperties": false
    },
    "type": "array"
   },
   "readinessProbe": {
    "properties": {
     "exec": {
      "properties": {
       "command": {
        "items": {
         "type": "string"
        },
        "type": "array"
       }
      },
      "type": "object",
      "additionalProperties": false
     },
     "failureThreshold": {
      "type": "integer",
      "minimum": 0
     },
     "grpc": {
      "properties": {
       "port": {
        "type": "integer",
        "minimum": 1,
        "maximum": 65535
       },
       "service": {
        "type": "string"
       }
      },
      "required": [
       "port"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "httpGet": {
      "properties": {
       "host": {
        "type": "string"
       },
       "httpHeaders": {
        "items": {
         "properties": {
          "name": {
           "type": "string"
          },
          "value": {
           "type": "string"
          }
         },
         "required": [
          "name",
          "value"
         ],
         "type": "object",
         "additionalProperties": false
        },
        "type": "array"
       },
       "path": {
        "type": "string"
       },
       "port": {
        "anyOf": [
         {
          "type": "integer",
          "minimum": 1,
          "maximum": 65535
         },
         {
          "type": "string",
          "pattern": "^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$"
         }
        ],
        "x-allowed": "a port from 1 to 65535, or the name of one"
       },
       "scheme": {
        "type": "string",
        "enum": [
         "HTTP",
         "HTTPS"
        ]
       }
      },
      "required": [
       "port"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "initialDelaySeconds": {
      "type": "integer",
      "minimum": 0
     },
     "periodSeconds": {
      "type": "integer",
      "minimum": 0
     },
     "successThreshold": {
      "type": "integer",
      "minimum": 0
     },
     "tcpSocket": {
      "properties": {
       "host": {
        "type": "string"
       },
       "port": {
        "anyOf": [
         {
          "type": "integer",
          "minimum": 1,
          "maximum": 65535
         },
         {
          "type": "string",
          "pattern": "^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$"
         }
        ],
        "x-allowed": "a port from 1 to 65535, or the name of one"
       }
      },
      "required": [
       "port"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "terminationGracePeriodSeconds": {
      "type": "integer",
      "minimum": 1
     },
     "timeoutSeconds": {
      "type": "integer",
      "minimum": 0
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "resizePolicy": {
    "items": {
     "properties": {
      "resourceName": {
       "type": "string",
       "enum": [
        "cpu",
        "memory"
       ]
      },
      "restartPolicy": {
       "type": "string",
       "enum": [
        "NotRequired",
        "RestartContainer"
       ]
      }
     },
     "required": [
      "resourceName",
      "restartPolicy"
     ],
     "type": "object",
     "additionalProperties": false
    },
    "type": "array"
   },
   "resources": {
    "properties": {
     "claims": {
      "items": {
       "properties": {
        "name": {
         "type": "string"
        },
        "request": {
         "type": "string"
        }
       },
       "required": [
        "name"
       ],
       "type": "object",
       "additionalProperties": false
      },
      "type": "array"
     },
     "limits": {
      "type": "object",
      "additionalProperties": {
       "anyOf": [
        {
         "type": "string",
         "pattern": "^[+-]?[0-9]+(\\.[0-9]+)?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
        },
        {
         "type": "number"
        }
       ],
       "x-allowed": "an amount such as 100m, 64Mi or 1"
      }
     },
     "requests": {
      "type": "object",
      "additionalProperties": {
       "anyOf": [
        {
         "type": "string",
         "pattern": "^[+-]?[0-9]+(\\.[0-9]+)?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
        },
        {
         "type": "number"
        }
       ],
       "x-allowed": "an amount such as 100m, 64Mi or 1"
      }
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "restartPolicy": {
    "type": "string"
   },
   "restartPolicyRules": {
    "items": {
     "properties": {
      "action": {
       "type": "string"
      },
      "exitCodes": {
       "properties": {
        "operator": {
         "type": "string"
        },
        "values": {
         "items": {
          "type": "integer"
         },
         "type": "array"
        }
       },
       "required": [
        "operator"
       ],
       "type": "object",
       "additionalProperties": false
      }
     },
     "required": [
      "action"
     ],
     "type": "object",
     "additionalProperties": false
    },
    "type": "array"
   },
   "securityContext": {
    "properties": {
     "allowPrivilegeEscalation": {
      "type": "boolean"
     },
     "appArmorProfile": {
      "properties": {
       "localhostProfile": {
        "type": "string"
       },
       "type": {
        "type": "string"
       }
      },
      "required": [
       "type"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "capabilities": {
      "properties": {
       "add": {
        "items": {
         "type": "string"
        },
        "type": "array"
       },
       "drop": {
        "items": {
         "type": "string"
        },
        "type": "array"
       }
      },
      "type": "object",
      "additionalProperties": false
     },
     "privileged": {
      "type": "boolean"
     },
     "procMount": {
      "type": "string"
     },
     "readOnlyRootFilesystem": {
      "type": "boolean"
     },
     "runAsGroup": {
      "type": "integer",
      "minimum": 0,
      "maximum": 2147483647
     },
     "runAsNonRoot": {
      "type": "boolean"
     },
     "runAsUser": {
      "type": "integer",
      "minimum": 0,
      "maximum": 2147483647
     },
     "seLinuxOptions": {
      "properties": {
       "level": {
        "type": "string"
       },
       "role": {
        "type": "string"
       },
       "type": {
        "type": "string"
       },
       "user": {
        "type": "string"
       }
      },
      "type": "object",
      "additionalProperties": false
     },
     "seccompProfile": {
      "properties": {
       "localhostProfile": {
        "type": "string"
       },
       "type": {
        "type": "string"
       }
      },
      "required": [
       "type"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "windowsOptions": {
      "properties": {
       "gmsaCredentialSpec": {
        "type": "string"
       },
       "gmsaCredentialSpecName": {
        "type": "string"
       },
       "hostProcess": {
        "type": "boolean"
       },
       "runAsUserName": {
        "type": "string"
       }
      },
      "type": "object",
      "additionalProperties": false
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "startupProbe": {
    "properties": {
     "exec": {
      "properties": {
       "command": {
        "items": {
         "type": "string"
        },
        "type": "array"
       }
      },
      "type": "object",
      "additionalProperties": false
     },
     "failureThreshold": {
      "type": "integer",
      "minimum": 0
     },
     "grpc": {
      "properties": {
       "port": {
        "type": "integer",
        "minimum": 1,
        "maximum": 65535
       },
       "service": {
        "type": "string"
       }
      },
      "required": [
       "port"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "httpGet": {
      "properties": {
       "host": {
        "type": "string"
       },
       "httpHeaders": {
        "items": {
         "properties": {
          "name": {
           "type": "string"
          },
          "value": {
           "type": "string"
          }
         },
         "required": [
          "name",
          "value"
         ],
         "type": "object",
         "additionalProperties": false
        },
        "type": "array"
       },
       "path": {
        "type": "string"
       },
       "port": {
        "anyOf": [
         {
          "type": "integer",
          "minimum": 1,
          "maximum": 65535
         },
         {
          "type": "string",
          "pattern": "^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$"
         }
        ],
        "x-allowed": "a port from 1 to 65535, or the name of one"
       },
       "scheme": {
        "type": "string",
        "enum": [
         "HTTP",
         "HTTPS"
        ]
       }
      },
      "required": [
       "port"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "initialDelaySeconds": {
      "type": "integer",
      "minimum": 0
     },
     "periodSeconds": {
      "type": "integer",
      "minimum": 0
     },
     "successThreshold": {
      "type": "integer",
      "minimum": 0
     },
     "tcpSocket": {
      "properties": {
       "host": {
        "type": "string"
       },
       "port": {
        "anyOf": [
         {
          "type": "integer",
          "minimum": 1,
          "maximum": 65535
         },
         {
          "type": "string",
          "pattern": "^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$"
         }
        ],
        "x-allowed": "a port from 1 to 65535, or the name of one"
       }
      },
      "required": [
       "port"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "terminationGracePeriodSeconds": {
      "type": "integer",
      "minimum": 1
     },
     "timeoutSeconds": {
      "type": "integer",
      "minimum": 0
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "stdin": {
    "type": "boolean"
   },
   "stdinOnce": {
    "type": "boolean"
   },
   "terminationMessagePath": {
    "type": "string"
   },
   "terminationMessagePolicy": {
    "type": "string",
    "enum": [
     "File",
     "FallbackToLogsOnError"
    ]
   },
   "tty": {
    "type": "boolean"
   },
   "volumeDevices": {
    "items": {
     "properties": {
      "devicePath": {
       "type": "string"
      },
      "name": {
       "type": "string"
      }
     },
     "required": [
      "name",
      "devicePath"
     ],
     "type": "object",
     "additionalProperties": false
    },
    "type": "array"
   },
   "volumeMounts": {
    "items": {
     "properties": {
      "mountPath": {
       "type": "string"
      },
      "mountPropagation": {
       "type": "string",
       "enum": [
        "None",
        "HostToContainer",
        "Bidirectional"
       ]
      },
      "name": {
       "type": "string"
      },
      "readOnly": {
       "type": "boolean"
      },
      "recursiveReadOnly": {
       "type": "string",
       "enum": [
        "Disabled",
        "Enabled",
        "IfPossible"
       ]
      },
      "subPath": {
       "type": "string"
      },
      "subPathExpr": {
       "type": "string"
      }
     },
     "required": [
      "name",
      "mountPath"
     ],
     "type": "object",
     "additionalProperties": false
    },
    "type": "array"
   },
   "workingDir": {
    "type": "string"
   }
  },
  "required": [
   "name"
  ],
  "type": "object",
  "additionalProperties": false
 },
 "EnvFromSource": {
  "properties": {
   "configMapRef": {
    "properties": {
     "name": {
      "type": "string",
      "pattern": "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
      "maxLength": 253,
      "x-allowed": "the name of a Kubernetes object: lower-case letters, digits, dashes and dots"
     },
     "optional": {
      "type": "boolean"
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "prefix": {
    "type": "string"
   },
   "secretRef": {
    "properties": {
     "name": {
      "type": "string",
      "pattern": "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
      "maxLength": 253,
      "x-allowed": "the name of a Kubernetes object: lower-case letters, digits, dashes and dots"
     },
     "optional": {
      "type": "boolean"
     }
    },
    "type": "object",
    "additionalProperties": false
   }
  },
  "type": "object",
  "additionalProperties": false
 },
 "EnvVar": {
  "properties": {
   "name": {
    "type": "string",
    "pattern": "^[ -<>-~]+$",
    "x-allowed": "the name of a variable: printable ASCII without ="
   },
   "value": {
    "type": "string"
   },
   "valueFrom": {
    "properties": {
     "configMapKeyRef": {
      "properties": {
       "key": {
        "type": "string",
        "pattern": "^(?!\\.\\.)(?!\\.$)[-._a-zA-Z0-9]{1,253}$",
        "x-allowed": "a key of a Secret or ConfigMap: letters, digits, and any of - _ ."
       },
       "name": {
        "type": "string",
        "pattern": "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        "maxLength": 253,
        "x-allowed": "the name of a Kubernetes object: lower-case letters, digits, dashes and dots"
       },
       "optional": {
        "type": "boolean"
       }
      },
      "required": [
       "key"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "fieldRef": {
      "properties": {
       "apiVersion": {
        "type": "string"
       },
       "fieldPath": {
        "type": "string"
       }
      },
      "required": [
       "fieldPath"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "fileKeyRef": {
      "properties": {
       "key": {
        "type": "string"
       },
       "optional": {
        "type": "boolean"
       },
       "path": {
        "type": "string"
       },
       "volumeName": {
        "type": "string"
       }
      },
      "required": [
       "volumeName",
       "path",
       "key"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "resourceFieldRef": {
      "properties": {
       "containerName": {
        "type": "string"
       },
       "divisor": {
        "anyOf": [
         {
          "type": "string",
          "pattern": "^[+-]?[0-9]+(\\.[0-9]+)?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
         },
         {
          "type": "number"
         }
        ],
        "x-allowed": "an amount such as 100m, 64Mi or 1"
       },
       "resource": {
        "type": "string"
       }
      },
      "required": [
       "resource"
      ],
      "type": "object",
      "additionalProperties": false
     },
     "secretKeyRef": {
      "properties": {
       "key": {
        "type": "string",
        "pattern": "^(?!\\.\\.)(?!\\.$)[-._a-zA-Z0-9]{1,253}$",
        "x-allowed": "a key of a Secret or ConfigMap: letters, digits, and any of - _ ."
       },
       "name": {
        "type": "string",
        "pattern": "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        "maxLength": 253,
        "x-allowed": "the name of a Kubernetes object: lower-case letters, digits, dashes and dots"
       },
       "optional": {
        "type": "boolean"
       }
      },
      "required": [
       "key"
      ],
      "type": "object",
      "additionalProperties": false
     }
    },
    "type": "object",
    "additionalProperties": false
   }
  },
  "required": [
   "name"
  ],
  "type": "object",
  "additionalProperties": false
 },
 "HostAlias": {
  "properties": {
   "hostnames": {
    "items": {
     "type": "string",
     "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
     "maxLength": 253,
     "x-allowed": "the name of a Kubernetes object: lower-case letters, digits, dashes and dots"
    },
    "type": "array",
    "minItems": 1
   },
   "ip": {
    "type": "string",
    "pattern": "^(\\d{1,3}(\\.\\d{1,3}){3}|(?=.*:.*:)[0-9a-fA-F:]+(:\\d{1,3}(\\.\\d{1,3}){3})?)$",
    "x-allowed": "an IPv4 or IPv6 address"
   }
  },
  "required": [
   "ip"
  ],
  "type": "object",
  "additionalProperties": false
 },
 "PodDNSConfig": {
  "properties": {
   "nameservers": {
    "items": {
     "type": "string",
     "pattern": "^(\\d{1,3}(\\.\\d{1,3}){3}|(?=.*:.*:)[0-9a-fA-F:]+(:\\d{1,3}(\\.\\d{1,3}){3})?)$",
     "x-allowed": "an IPv4 or IPv6 address"
    },
    "type": "array",
    "maxItems": 3
   },
   "options": {
    "items": {
     "properties": {
      "name": {
       "type": "string",
       "minLength": 1
      },
      "value": {
       "type": "string"
      }
     },
     "type": "object",
     "additionalProperties": false
    },
    "type": "array"
   },
   "searches": {
    "items": {
     "type": "string",
     "pattern": "^(\\.|[a-z0-9_]([-_a-z0-9]*[a-z0-9_])?([.][a-z0-9_]([-_a-z0-9]*[a-z0-9_])?)*[.]?)$",
     "maxLength": 254,
     "x-allowed": "a domain of lower-case letters, digits, dashes and underscores"
    },
    "type": "array",
    "maxItems": 32
   }
  },
  "type": "object",
  "additionalProperties": false
 },
 "TopologySpreadConstraint": {
  "properties": {
   "labelSelector": {
    "properties": {
     "matchExpressions": {
      "items": {
       "properties": {
        "key": {
         "type": "string",
         "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
         "x-allowed": "a label's name, such as team or example.com/team"
        },
        "operator": {
         "type": "string",
         "enum": [
          "In",
          "NotIn",
          "Exists",
          "DoesNotExist"
         ]
        },
        "values": {
         "items": {
          "type": "string"
         },
         "type": "array"
        }
       },
       "required": [
        "key",
        "operator"
       ],
       "type": "object",
       "additionalProperties": false
      },
      "type": "array"
     },
     "matchLabels": {
      "type": "object",
      "additionalProperties": {
       "type": "string"
      }
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "matchLabelKeys": {
    "items": {
     "type": "string"
    },
    "type": "array"
   },
   "maxSkew": {
    "type": "integer",
    "minimum": 1
   },
   "minDomains": {
    "type": "integer",
    "minimum": 1
   },
   "nodeAffinityPolicy": {
    "type": "string",
    "enum": [
     "Honor",
     "Ignore"
    ]
   },
   "nodeTaintsPolicy": {
    "type": "string",
    "enum": [
     "Honor",
     "Ignore"
    ]
   },
   "topologyKey": {
    "type": "string",
    "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
    "x-allowed": "a label's name, such as team or example.com/team"
   },
   "whenUnsatisfiable": {
    "type": "string",
    "enum": [
     "DoNotSchedule",
     "ScheduleAnyway"
    ]
   }
  },
  "required": [
   "maxSkew",
   "topologyKey",
   "whenUnsatisfiable"
  ],
  "type": "object",
  "additionalProperties": false
 },
 "Volume": {
  "properties": {
   "awsElasticBlockStore": {
    "properties": {
     "fsType": {
      "type": "string"
     },
     "partition": {
      "type": "integer"
     },
     "readOnly": {
      "type": "boolean"
     },
     "volumeID": {
      "type": "string"
     }
    },
    "required": [
     "volumeID"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "azureDisk": {
    "properties": {
     "cachingMode": {
      "type": "string"
     },
     "diskName": {
      "type": "string"
     },
     "diskURI": {
      "type": "string"
     },
     "fsType": {
      "type": "string"
     },
     "kind": {
      "type": "string"
     },
     "readOnly": {
      "type": "boolean"
     }
    },
    "required": [
     "diskName",
     "diskURI"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "azureFile": {
    "properties": {
     "readOnly": {
      "type": "boolean"
     },
     "secretName": {
      "type": "string"
     },
     "shareName": {
      "type": "string"
     }
    },
    "required": [
     "secretName",
     "shareName"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "cephfs": {
    "properties": {
     "monitors": {
      "items": {
       "type": "string"
      },
      "type": "array"
     },
     "path": {
      "type": "string"
     },
     "readOnly": {
      "type": "boolean"
     },
     "secretFile": {
      "type": "string"
     },
     "secretRef": {
      "properties": {
       "name": {
        "type": "string"
       }
      },
      "type": "object",
      "additionalProperties": false
     },
     "user": {
      "type": "string"
     }
    },
    "required": [
     "monitors"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "cinder": {
    "properties": {
     "fsType": {
      "type": "string"
     },
     "readOnly": {
      "type": "boolean"
     },
     "secretRef": {
      "properties": {
       "name": {
        "type": "string"
       }
      },
      "type": "object",
      "additionalProperties": false
     },
     "volumeID": {
      "type": "string"
     }
    },
    "required": [
     "volumeID"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "configMap": {
    "properties": {
     "defaultMode": {
      "type": "integer",
      "minimum": 0,
      "maximum": 511
     },
     "items": {
      "items": {
       "properties": {
        "key": {
         "type": "string",
         "pattern": "^(?!\\.\\.)(?!\\.$)[-._a-zA-Z0-9]{1,253}$",
         "x-allowed": "a key of a Secret or ConfigMap: letters, digits, and any of - _ ."
        },
        "mode": {
         "type": "integer",
         "minimum": 0,
         "maximum": 511
        },
        "path": {
         "type": "string",
         "pattern": "^(?!/)(?!\\.\\.)(?!.*/\\.\\.(/|$)).+$",
         "x-allowed": "a path within the volume, without .. in it"
        }
       },
       "required": [
        "key",
        "path"
       ],
       "type": "object",
       "additionalProperties": false
      },
      "type": "array"
     },
     "name": {
      "type": "string",
      "pattern": "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
      "maxLength": 253,
      "x-allowed": "the name of a Kubernetes object: lower-case letters, digits, dashes and dots"
     },
     "optional": {
      "type": "boolean"
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "csi": {
    "properties": {
     "driver": {
      "type": "string"
     },
     "fsType": {
      "type": "string"
     },
     "nodePublishSecretRef": {
      "properties": {
       "name": {
        "type": "string"
       }
      },
      "type": "object",
      "additionalProperties": false
     },
     "readOnly": {
      "type": "boolean"
     },
     "volumeAttributes": {
      "type": "object",
      "additionalProperties": {
       "type": "string"
      }
     }
    },
    "required": [
     "driver"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "downwardAPI": {
    "properties": {
     "defaultMode": {
      "type": "integer",
      "minimum": 0,
      "maximum": 511
     },
     "items": {
      "items": {
       "properties": {
        "fieldRef": {
         "properties": {
          "apiVersion": {
           "type": "string"
          },
          "fieldPath": {
           "type": "string"
          }
         },
         "required": [
          "fieldPath"
         ],
         "type": "object",
         "additionalProperties": false
        },
        "mode": {
         "type": "integer",
         "minimum": 0,
         "maximum": 511
        },
        "path": {
         "type": "string",
         "pattern": "^(?!/)(?!\\.\\.)(?!.*/\\.\\.(/|$)).+$",
         "x-allowed": "a path within the volume, without .. in it"
        },
        "resourceFieldRef": {
         "properties": {
          "containerName": {
           "type": "string"
          },
          "divisor": {
           "anyOf": [
            {
             "type": "string",
             "pattern": "^[+-]?[0-9]+(\\.[0-9]+)?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
            },
            {
             "type": "number"
            }
           ],
           "x-allowed": "an amount such as 100m, 64Mi or 1"
          },
          "resource": {
           "type": "string"
          }
         },
         "required": [
          "resource"
         ],
         "type": "object",
         "additionalProperties": false
        }
       },
       "required": [
        "path"
       ],
       "type": "object",
       "additionalProperties": false
      },
      "type": "array"
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "emptyDir": {
    "properties": {
     "medium": {
      "type": "string",
      "pattern": "^(|Memory|HugePages(-.+)?)$",
      "x-allowed": "nothing, Memory, HugePages or HugePages-<size>"
     },
     "sizeLimit": {
      "anyOf": [
       {
        "type": "string",
        "pattern": "^[+-]?[0-9]+(\\.[0-9]+)?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
       },
       {
        "type": "number"
       }
      ],
      "x-allowed": "an amount such as 100m, 64Mi or 1"
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "ephemeral": {
    "properties": {
     "volumeClaimTemplate": {
      "properties": {
       "metadata": {
        "properties": {
         "annotations": {
          "type": "object",
          "additionalProperties": {
           "type": "string"
          }
         },
         "creationTimestamp": {
          "type": "string"
         },
         "deletionGracePeriodSeconds": {
          "type": "integer"
         },
         "deletionTimestamp": {
          "type": "string"
         },
         "finalizers": {
          "items": {
           "type": "string"
          },
          "type": "array"
         },
         "generateName": {
          "type": "string"
         },
         "generation": {
          "type": "integer"
         },
         "labels": {
          "type": "object",
          "patternProperties": {
           "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$": {
            "type": "string",
            "pattern": "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$"
           }
          },
          "additionalProperties": false
         },
         "managedFields": {
          "items": {
           "properties": {
            "apiVersion": {
             "type": "string"
            },
            "fieldsType": {
             "type": "string"
            },
            "fieldsV1": {
             "type": "object"
            },
            "manager": {
             "type": "string"
            },
            "operation": {
             "type": "string"
            },
            "subresource": {
             "type": "string"
            },
            "time": {
             "type": "string"
            }
           },
           "type": "object",
           "additionalProperties": false
          },
          "type": "array"
         },
         "name": {
          "type": "string",
          "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
          "maxLength": 253
         },
         "namespace": {
          "type": "string"
         },
         "ownerReferences": {
          "items": {
           "properties": {
            "apiVersion": {
             "type": "string"
            },
            "blockOwnerDeletion": {
             "type": "boolean"
            },
            "controller": {
             "type": "boolean"
            },
            "kind": {
             "type": "string"
            },
            "name": {
             "type": "string"
            },
            "uid": {
             "type": "string"
            }
           },
           "required": [
            "apiVersion",
            "kind",
            "name",
            "uid"
           ],
           "type": "object",
           "additionalProperties": false
          },
          "type": "array"
         },
         "resourceVersion": {
          "type": "string"
         },
         "selfLink": {
          "type": "string"
         },
         "uid": {
          "type": "string"
         }
        },
        "type": "object",
        "additionalProperties": false
       },
       "spec": {
        "properties": {
         "accessModes": {
          "items": {
           "type": "string"
          },
          "type": "array"
         },
         "dataSource": {
          "properties": {
           "apiGroup": {
            "type": "string"
           },
           "kind": {
            "type": "string"
           },
           "name": {
            "type": "string"
           }
          },
          "required": [
           "kind",
           "name"
          ],
          "type": "object",
          "additionalProperties": false
         },
         "dataSourceRef": {
          "properties": {
           "apiGroup": {
            "type": "string"
           },
           "kind": {
            "type": "string"
           },
           "name": {
            "type": "string"
           },
           "namespace": {
            "type": "string"
           }
          },
          "required": [
           "kind",
           "name"
          ],
          "type": "object",
          "additionalProperties": false
         },
         "resources": {
          "properties": {
           "limits": {
            "type": "object",
            "additionalProperties": {
             "anyOf": [
              {
               "type": "string",
               "pattern": "^[+-]?[0-9]+(\\.[0-9]+)?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
              },
              {
               "type": "number"
              }
             ],
             "x-allowed": "an amount such as 100m, 64Mi or 1"
            }
           },
           "requests": {
            "type": "object",
            "additionalProperties": {
             "anyOf": [
              {
               "type": "string",
               "pattern": "^[+-]?[0-9]+(\\.[0-9]+)?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
              },
              {
               "type": "number"
              }
             ],
             "x-allowed": "an amount such as 100m, 64Mi or 1"
            }
           }
          },
          "type": "object",
          "additionalProperties": false
         },
         "selector": {
          "properties": {
           "matchExpressions": {
            "items": {
             "properties": {
              "key": {
               "type": "string",
               "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
               "x-allowed": "a label's name, such as team or example.com/team"
              },
              "operator": {
               "type": "string",
               "enum": [
                "In",
                "NotIn",
                "Exists",
                "DoesNotExist"
               ]
              },
              "values": {
               "items": {
                "type": "string"
               },
               "type": "array"
              }
             },
             "required": [
              "key",
              "operator"
             ],
             "type": "object",
             "additionalProperties": false
            },
            "type": "array"
           },
           "matchLabels": {
            "type": "object",
            "additionalProperties": {
             "type": "string"
            }
           }
          },
          "type": "object",
          "additionalProperties": false
         },
         "storageClassName": {
          "type": "string"
         },
         "volumeAttributesClassName": {
          "type": "string"
         },
         "volumeMode": {
          "type": "string"
         },
         "volumeName": {
          "type": "string"
         }
        },
        "type": "object",
        "additionalProperties": false
       }
      },
      "required": [
       "spec"
      ],
      "type": "object",
      "additionalProperties": false
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "fc": {
    "properties": {
     "fsType": {
      "type": "string"
     },
     "lun": {
      "type": "integer"
     },
     "readOnly": {
      "type": "boolean"
     },
     "targetWWNs": {
      "items": {
       "type": "string"
      },
      "type": "array"
     },
     "wwids": {
      "items": {
       "type": "string"
      },
      "type": "array"
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "flexVolume": {
    "properties": {
     "driver": {
      "type": "string"
     },
     "fsType": {
      "type": "string"
     },
     "options": {
      "type": "object",
      "additionalProperties": {
       "type": "string"
      }
     },
     "readOnly": {
      "type": "boolean"
     },
     "secretRef": {
      "properties": {
       "name": {
        "type": "string"
       }
      },
      "type": "object",
      "additionalProperties": false
     }
    },
    "required": [
     "driver"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "flocker": {
    "properties": {
     "datasetName": {
      "type": "string"
     },
     "datasetUUID": {
      "type": "string"
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "gcePersistentDisk": {
    "properties": {
     "fsType": {
      "type": "string"
     },
     "partition": {
      "type": "integer"
     },
     "pdName": {
      "type": "string"
     },
     "readOnly": {
      "type": "boolean"
     }
    },
    "required": [
     "pdName"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "gitRepo": {
    "properties": {
     "directory": {
      "type": "string"
     },
     "repository": {
      "type": "string"
     },
     "revision": {
      "type": "string"
     }
    },
    "required": [
     "repository"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "glusterfs": {
    "properties": {
     "endpoints": {
      "type": "string"
     },
     "path": {
      "type": "string"
     },
     "readOnly": {
      "type": "boolean"
     }
    },
    "required": [
     "endpoints",
     "path"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "hostPath": {
    "properties": {
     "path": {
      "type": "string"
     },
     "type": {
      "type": "string"
     }
    },
    "required": [
     "path"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "image": {
    "properties": {
     "pullPolicy": {
      "type": "string"
     },
     "reference": {
      "type": "string"
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "iscsi": {
    "properties": {
     "chapAuthDiscovery": {
      "type": "boolean"
     },
     "chapAuthSession": {
      "type": "boolean"
     },
     "fsType": {
      "type": "string"
     },
     "initiatorName": {
      "type": "string"
     },
     "iqn": {
      "type": "string"
     },
     "iscsiInterface": {
      "type": "string"
     },
     "lun": {
      "type": "integer"
     },
     "portals": {
      "items": {
       "type": "string"
      },
      "type": "array"
     },
     "readOnly": {
      "type": "boolean"
     },
     "secretRef": {
      "properties": {
       "name": {
        "type": "string"
       }
      },
      "type": "object",
      "additionalProperties": false
     },
     "targetPortal": {
      "type": "string"
     }
    },
    "required": [
     "targetPortal",
     "iqn",
     "lun"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "name": {
    "type": "string",
    "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    "maxLength": 63,
    "x-allowed": "a name of at most 63 lower-case letters, digits and dashes"
   },
   "nfs": {
    "properties": {
     "path": {
      "type": "string"
     },
     "readOnly": {
      "type": "boolean"
     },
     "server": {
      "type": "string"
     }
    },
    "required": [
     "server",
     "path"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "persistentVolumeClaim": {
    "properties": {
     "claimName": {
      "type": "string",
      "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
      "maxLength": 253,
      "x-allowed": "the name of a Kubernetes object: lower-case letters, digits, dashes and dots"
     },
     "readOnly": {
      "type": "boolean"
     }
    },
    "required": [
     "claimName"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "photonPersistentDisk": {
    "properties": {
     "fsType": {
      "type": "string"
     },
     "pdID": {
      "type": "string"
     }
    },
    "required": [
     "pdID"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "portworxVolume": {
    "properties": {
     "fsType": {
      "type": "string"
     },
     "readOnly": {
      "type": "boolean"
     },
     "volumeID": {
      "type": "string"
     }
    },
    "required": [
     "volumeID"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "projected": {
    "properties": {
     "defaultMode": {
      "type": "integer",
      "minimum": 0,
      "maximum": 511
     },
     "sources": {
      "items": {
       "properties": {
        "clusterTrustBundle": {
         "properties": {
          "labelSelector": {
           "properties": {
            "matchExpressions": {
             "items": {
              "properties": {
               "key": {
                "type": "string",
                "pattern": "^((?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
                "x-allowed": "a label's name, such as team or example.com/team"
               },
               "operator": {
                "type": "string",
                "enum": [
                 "In",
                 "NotIn",
                 "Exists",
                 "DoesNotExist"
                ]
               },
               "values": {
                "items": {
                 "type": "string"
                },
                "type": "array"
               }
              },
              "required": [
               "key",
               "operator"
              ],
              "type": "object",
              "additionalProperties": false
             },
             "type": "array"
            },
            "matchLabels": {
             "type": "object",
             "additionalProperties": {
              "type": "string"
             }
            }
           },
           "type": "object",
           "additionalProperties": false
          },
          "name": {
           "type": "string"
          },
          "optional": {
           "type": "boolean"
          },
          "path": {
           "type": "string"
          },
          "signerName": {
           "type": "string"
          }
         },
         "required": [
          "path"
         ],
         "type": "object",
         "additionalProperties": false
        },
        "configMap": {
         "properties": {
          "items": {
           "items": {
            "properties": {
             "key": {
              "type": "string",
              "pattern": "^(?!\\.\\.)(?!\\.$)[-._a-zA-Z0-9]{1,253}$",
              "x-allowed": "a key of a Secret or ConfigMap: letters, digits, and any of - _ ."
             },
             "mode": {
              "type": "integer",
              "minimum": 0,
              "maximum": 511
             },
             "path": {
              "type": "string",
              "pattern": "^(?!/)(?!\\.\\.)(?!.*/\\.\\.(/|$)).+$",
              "x-allowed": "a path within the volume, without .. in it"
             }
            },
            "required": [
             "key",
             "path"
            ],
            "type": "object",
            "additionalProperties": false
           },
           "type": "array"
          },
          "name": {
           "type": "string",
           "pattern": "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
           "maxLength": 253,
           "x-allowed": "the name of a Kubernetes object: lower-case letters, digits, dashes and dots"
          },
          "optional": {
           "type": "boolean"
          }
         },
         "type": "object",
         "additionalProperties": false
        },
        "downwardAPI": {
         "properties": {
          "items": {
           "items": {
            "properties": {
             "fieldRef": {
              "properties": {
               "apiVersion": {
                "type": "string"
               },
               "fieldPath": {
                "type": "string"
               }
              },
              "required": [
               "fieldPath"
              ],
              "type": "object",
              "additionalProperties": false
             },
             "mode": {
              "type": "integer",
              "minimum": 0,
              "maximum": 511
             },
             "path": {
              "type": "string",
              "pattern": "^(?!/)(?!\\.\\.)(?!.*/\\.\\.(/|$)).+$",
              "x-allowed": "a path within the volume, without .. in it"
             },
             "resourceFieldRef": {
              "properties": {
               "containerName": {
                "type": "string"
               },
               "divisor": {
                "anyOf": [
                 {
                  "type": "string",
                  "pattern": "^[+-]?[0-9]+(\\.[0-9]+)?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
                 },
                 {
                  "type": "number"
                 }
                ],
                "x-allowed": "an amount such as 100m, 64Mi or 1"
               },
               "resource": {
                "type": "string"
               }
              },
              "required": [
               "resource"
              ],
              "type": "object",
              "additionalProperties": false
             }
            },
            "required": [
             "path"
            ],
            "type": "object",
            "additionalProperties": false
           },
           "type": "array"
          }
         },
         "type": "object",
         "additionalProperties": false
        },
        "podCertificate": {
         "properties": {
          "certificateChainPath": {
           "type": "string"
          },
          "credentialBundlePath": {
           "type": "string"
          },
          "keyPath": {
           "type": "string"
          },
          "keyType": {
           "type": "string"
          },
          "maxExpirationSeconds": {
           "type": "integer"
          },
          "signerName": {
           "type": "string"
          },
          "userAnnotations": {
           "type": "object",
           "additionalProperties": {
            "type": "string"
           }
          }
         },
         "required": [
          "signerName",
          "keyType"
         ],
         "type": "object",
         "additionalProperties": false
        },
        "secret": {
         "properties": {
          "items": {
           "items": {
            "properties": {
             "key": {
              "type": "string",
              "pattern": "^(?!\\.\\.)(?!\\.$)[-._a-zA-Z0-9]{1,253}$",
              "x-allowed": "a key of a Secret or ConfigMap: letters, digits, and any of - _ ."
             },
             "mode": {
              "type": "integer",
              "minimum": 0,
              "maximum": 511
             },
             "path": {
              "type": "string",
              "pattern": "^(?!/)(?!\\.\\.)(?!.*/\\.\\.(/|$)).+$",
              "x-allowed": "a path within the volume, without .. in it"
             }
            },
            "required": [
             "key",
             "path"
            ],
            "type": "object",
            "additionalProperties": false
           },
           "type": "array"
          },
          "name": {
           "type": "string",
           "pattern": "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
           "maxLength": 253,
           "x-allowed": "the name of a Kubernetes object: lower-case letters, digits, dashes and dots"
          },
          "optional": {
           "type": "boolean"
          }
         },
         "type": "object",
         "additionalProperties": false
        },
        "serviceAccountToken": {
         "properties": {
          "audience": {
           "type": "string"
          },
          "expirationSeconds": {
           "type": "integer",
           "minimum": 600,
           "maximum": 4294967296
          },
          "path": {
           "type": "string",
           "pattern": "^(?!/)(?!\\.\\.)(?!.*/\\.\\.(/|$)).+$",
           "x-allowed": "a path within the volume, without .. in it"
          }
         },
         "required": [
          "path"
         ],
         "type": "object",
         "additionalProperties": false
        }
       },
       "type": "object",
       "additionalProperties": false
      },
      "type": "array"
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "quobyte": {
    "properties": {
     "group": {
      "type": "string"
     },
     "readOnly": {
      "type": "boolean"
     },
     "registry": {
      "type": "string"
     },
     "tenant": {
      "type": "string"
     },
     "user": {
      "type": "string"
     },
     "volume": {
      "type": "string"
     }
    },
    "required": [
     "registry",
     "volume"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "rbd": {
    "properties": {
     "fsType": {
      "type": "string"
     },
     "image": {
      "type": "string"
     },
     "keyring": {
      "type": "string"
     },
     "monitors": {
      "items": {
       "type": "string"
      },
      "type": "array"
     },
     "pool": {
      "type": "string"
     },
     "readOnly": {
      "type": "boolean"
     },
     "secretRef": {
      "properties": {
       "name": {
        "type": "string"
       }
      },
      "type": "object",
      "additionalProperties": false
     },
     "user": {
      "type": "string"
     }
    },
    "required": [
     "monitors",
     "image"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "scaleIO": {
    "properties": {
     "fsType": {
      "type": "string"
     },
     "gateway": {
      "type": "string"
     },
     "protectionDomain": {
      "type": "string"
     },
     "readOnly": {
      "type": "boolean"
     },
     "secretRef": {
      "properties": {
       "name": {
        "type": "string"
       }
      },
      "type": "object",
      "additionalProperties": false
     },
     "sslEnabled": {
      "type": "boolean"
     },
     "storageMode": {
      "type": "string"
     },
     "storagePool": {
      "type": "string"
     },
     "system": {
      "type": "string"
     },
     "volumeName": {
      "type": "string"
     }
    },
    "required": [
     "gateway",
     "system",
     "secretRef"
    ],
    "type": "object",
    "additionalProperties": false
   },
   "secret": {
    "properties": {
     "defaultMode": {
      "type": "integer",
      "minimum": 0,
      "maximum": 511
     },
     "items": {
      "items": {
       "properties": {
        "key": {
         "type": "string",
         "pattern": "^(?!\\.\\.)(?!\\.$)[-._a-zA-Z0-9]{1,253}$",
         "x-allowed": "a key of a Secret or ConfigMap: letters, digits, and any of - _ ."
        },
        "mode": {
         "type": "integer",
         "minimum": 0,
         "maximum": 511
        },
        "path": {
         "type": "string",
         "pattern": "^(?!/)(?!\\.\\.)(?!.*/\\.\\.(/|$)).+$",
         "x-allowed": "a path within the volume, without .. in it"
        }
       },
       "required": [
        "key",
        "path"
       ],
       "type": "object",
       "additionalProperties": false
      },
      "type": "array"
     },
     "optional": {
      "type": "boolean"
     },
     "secretName": {
      "type": "string",
      "pattern": "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
      "maxLength": 253,
      "x-allowed": "the name of a Kubernetes object: lower-case letters, digits, dashes and dots"
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "storageos": {
    "properties": {
     "fsType": {
      "type": "string"
     },
     "readOnly": {
      "type": "boolean"
     },
     "secretRef": {
      "properties": {
       "name": {
        "type": "string"
       }
      },
      "type": "object",
      "additionalProperties": false
     },
     "volumeName": {
      "type": "string"
     },
     "volumeNamespace": {
      "type": "string"
     }
    },
    "type": "object",
    "additionalProperties": false
   },
   "vsphereVolume": {
    "properties": {
     "fsType": {
      "type": "string"
     },
     "storagePolicyID": {
      "type": "string"
     },
     "storagePolicyName": {
      "type": "string"
     },
     "volumePath": {
      "type": "string"
     }
    },
    "required": [
     "volumePath"
    ],
    "type": "object",
    "additionalProperties": false
   }
  },
  "required": [
   "name"
  ],
  "type": "object",
  "additionalProperties": false
 },
 "VolumeMount": {
  "properties": {
   "mountPath": {
    "type": "string"
   },
   "mountPropagation": {
    "type": "string",
    "enum": [
     "None",
     "HostToContainer",
     "Bidirectional"
    ]
   },
   "name": {
    "type": "string"
   },
   "readOnly": {
    "type": "boolean"
   },
   "recursiveReadOnly": {
    "type": "string",
    "enum": [
     "Disabled",
     "Enabled",
     "IfPossible"
    ]
   },
   "subPath": {
    "type": "string"
   },
   "subPathExpr": {
    "type": "string"
   }
  },
  "required": [
   "name",
   "mountPath"
  ],
  "type": "object",
  "additionalProperties": false
 }
} as const satisfies Readonly<Record<'Affinity' | 'Container' | 'EnvFromSource' | 'EnvVar' | 'HostAlias' | 'PodDNSConfig' | 'TopologySpreadConstraint' | 'Volume' | 'VolumeMount', SchemaNode>>;
