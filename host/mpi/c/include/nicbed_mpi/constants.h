/* Constants. Each is read from here by Python, too (header.py). */

#ifndef NICBED_MPI_CONSTANTS_H
#define NICBED_MPI_CONSTANTS_H

#define MPI_VERSION 3
#define MPI_SUBVERSION 1

/* Error classes */
#define MPI_SUCCESS 0
#define MPI_ERR_BUFFER 1
#define MPI_ERR_COUNT 2
#define MPI_ERR_TYPE 3
#define MPI_ERR_TAG 4
#define MPI_ERR_COMM 5
#define MPI_ERR_RANK 6
#define MPI_ERR_REQUEST 7
#define MPI_ERR_ROOT 8
#define MPI_ERR_GROUP 9
#define MPI_ERR_OP 10
#define MPI_ERR_TOPOLOGY 11
#define MPI_ERR_DIMS 12
#define MPI_ERR_ARG 13
#define MPI_ERR_UNKNOWN 14
#define MPI_ERR_TRUNCATE 15
#define MPI_ERR_OTHER 16
#define MPI_ERR_INTERN 17
#define MPI_ERR_IN_STATUS 18
#define MPI_ERR_PENDING 19
#define MPI_ERR_KEYVAL 20
#define MPI_ERR_INFO 21
#define MPI_ERR_INFO_KEY 22
#define MPI_ERR_INFO_VALUE 23
#define MPI_ERR_INFO_NOKEY 24
#define MPI_ERR_ERRHANDLER 25
#define MPI_ERR_WIN 26
#define MPI_ERR_FILE 27
#define MPI_ERR_SPAWN 28
#define MPI_ERR_PORT 29
#define MPI_ERR_SERVICE 30
#define MPI_ERR_NAME 31
#define MPI_ERR_BASE 32
#define MPI_ERR_LOCKTYPE 33
#define MPI_ERR_NO_MEM 34
#define MPI_ERR_SIZE 35
#define MPI_ERR_DISP 36
#define MPI_ERR_ASSERT 37
#define MPI_ERR_RMA_CONFLICT 38
#define MPI_ERR_RMA_SYNC 39
#define MPI_ERR_RMA_RANGE 40
#define MPI_ERR_RMA_ATTACH 41
#define MPI_ERR_RMA_SHARED 42
#define MPI_ERR_RMA_FLAVOR 43
#define MPI_ERR_NOT_SAME 44
#define MPI_ERR_AMODE 45
#define MPI_ERR_UNSUPPORTED_DATAREP 46
#define MPI_ERR_UNSUPPORTED_OPERATION 47
#define MPI_ERR_NO_SUCH_FILE 48
#define MPI_ERR_FILE_EXISTS 49
#define MPI_ERR_BAD_FILE 50
#define MPI_ERR_ACCESS 51
#define MPI_ERR_NO_SPACE 52
#define MPI_ERR_QUOTA 53
#define MPI_ERR_READ_ONLY 54
#define MPI_ERR_FILE_IN_USE 55
#define MPI_ERR_DUP_DATAREP 56
#define MPI_ERR_CONVERSION 57
#define MPI_ERR_IO 58
#define MPI_ERR_LASTCODE 1048576
#define MPI_T_ERR_MEMORY 100
#define MPI_T_ERR_NOT_INITIALIZED 101
#define MPI_T_ERR_CANNOT_INIT 102
#define MPI_T_ERR_INVALID_INDEX 103
#define MPI_T_ERR_INVALID_ITEM 104
#define MPI_T_ERR_INVALID_HANDLE 105
#define MPI_T_ERR_OUT_OF_HANDLES 106
#define MPI_T_ERR_OUT_OF_SESSIONS 107
#define MPI_T_ERR_INVALID_SESSION 108
#define MPI_T_ERR_CVAR_SET_NOT_NOW 109
#define MPI_T_ERR_CVAR_SET_NEVER 110
#define MPI_T_ERR_PVAR_NO_STARTSTOP 111
#define MPI_T_ERR_PVAR_NO_WRITE 112
#define MPI_T_ERR_PVAR_NO_ATOMIC 113
#define MPI_T_ERR_INVALID_NAME 114
#define MPI_T_ERR_INVALID 115

/* Ranks, tags, and what nobody said */
#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG (-1)
#define MPI_PROC_NULL (-2)
#define MPI_ROOT (-4)
#define MPI_UNDEFINED (-32766)

/* Attributes that MPI defines */
#define MPI_TAG_UB 1
#define MPI_HOST 2
#define MPI_IO 3
#define MPI_WTIME_IS_GLOBAL 4
#define MPI_UNIVERSE_SIZE 5
#define MPI_LASTUSEDCODE 6
#define MPI_APPNUM 7
#define MPI_WIN_BASE 8
#define MPI_WIN_SIZE 9
#define MPI_WIN_DISP_UNIT 10
#define MPI_WIN_CREATE_FLAVOR 11
#define MPI_WIN_MODEL 12
#define MPI_KEYVAL_INVALID (-1)

/* Comparisons, and kinds of communicators */
#define MPI_IDENT 0
#define MPI_CONGRUENT 1
#define MPI_SIMILAR 2
#define MPI_UNEQUAL 3
#define MPI_CART 1
#define MPI_GRAPH 2
#define MPI_DIST_GRAPH 3
#define MPI_COMM_TYPE_SHARED 1

/* Threads */
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1
#define MPI_THREAD_SERIALIZED 2
#define MPI_THREAD_MULTIPLE 3

/* Lengths */
#define MPI_MAX_PROCESSOR_NAME 64
#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_OBJECT_NAME 128
#define MPI_MAX_LIBRARY_VERSION_STRING 64
#define MPI_MAX_INFO_KEY 255
#define MPI_MAX_INFO_VAL 1024
#define MPI_MAX_PORT_NAME 64
#define MPI_MAX_DATAREP_STRING 64
#define MPI_BSEND_OVERHEAD 64

/* How a datatype was made, and orders */
#define MPI_COMBINER_NAMED 0
#define MPI_COMBINER_DUP 1
#define MPI_COMBINER_CONTIGUOUS 2
#define MPI_COMBINER_VECTOR 3
#define MPI_COMBINER_HVECTOR 4
#define MPI_COMBINER_INDEXED 5
#define MPI_COMBINER_HINDEXED 6
#define MPI_COMBINER_INDEXED_BLOCK 7
#define MPI_COMBINER_HINDEXED_BLOCK 8
#define MPI_COMBINER_STRUCT 9
#define MPI_COMBINER_SUBARRAY 10
#define MPI_COMBINER_DARRAY 11
#define MPI_COMBINER_F90_REAL 12
#define MPI_COMBINER_F90_COMPLEX 13
#define MPI_COMBINER_F90_INTEGER 14
#define MPI_COMBINER_RESIZED 15
#define MPI_COMBINER_HVECTOR_INTEGER 20
#define MPI_COMBINER_HINDEXED_INTEGER 21
#define MPI_COMBINER_STRUCT_INTEGER 22
#define MPI_ORDER_C 56
#define MPI_ORDER_FORTRAN 57
#define MPI_DISTRIBUTE_NONE 0
#define MPI_DISTRIBUTE_BLOCK 1
#define MPI_DISTRIBUTE_CYCLIC 2
#define MPI_DISTRIBUTE_DFLT_DARG (-1)
#define MPI_TYPECLASS_INTEGER 1
#define MPI_TYPECLASS_REAL 2
#define MPI_TYPECLASS_COMPLEX 3

/* One-sided communication */
#define MPI_LOCK_EXCLUSIVE 1
#define MPI_LOCK_SHARED 2
#define MPI_MODE_NOCHECK 1024
#define MPI_MODE_NOSTORE 2048
#define MPI_MODE_NOPUT 4096
#define MPI_MODE_NOPRECEDE 8192
#define MPI_MODE_NOSUCCEED 16384
#define MPI_WIN_FLAVOR_CREATE 1
#define MPI_WIN_FLAVOR_ALLOCATE 2
#define MPI_WIN_FLAVOR_DYNAMIC 3
#define MPI_WIN_FLAVOR_SHARED 4
#define MPI_WIN_SEPARATE 1
#define MPI_WIN_UNIFIED 2

/* Files */
#define MPI_MODE_RDONLY 2
#define MPI_MODE_RDWR 8
#define MPI_MODE_WRONLY 4
#define MPI_MODE_CREATE 1
#define MPI_MODE_EXCL 64
#define MPI_MODE_DELETE_ON_CLOSE 16
#define MPI_MODE_UNIQUE_OPEN 32
#define MPI_MODE_APPEND 128
#define MPI_MODE_SEQUENTIAL 256
#define MPI_SEEK_SET 600
#define MPI_SEEK_CUR 602
#define MPI_SEEK_END 604
#define MPI_DISPLACEMENT_CURRENT (-54278278)

/* The tool information interface */
#define MPI_T_VERBOSITY_USER_BASIC 1
#define MPI_T_VERBOSITY_USER_DETAIL 2
#define MPI_T_VERBOSITY_USER_ALL 3
#define MPI_T_VERBOSITY_TUNER_BASIC 4
#define MPI_T_VERBOSITY_TUNER_DETAIL 5
#define MPI_T_VERBOSITY_TUNER_ALL 6
#define MPI_T_VERBOSITY_MPIDEV_BASIC 7
#define MPI_T_VERBOSITY_MPIDEV_DETAIL 8
#define MPI_T_VERBOSITY_MPIDEV_ALL 9
#define MPI_T_BIND_NO_OBJECT 0
#define MPI_T_BIND_MPI_COMM 1
#define MPI_T_BIND_MPI_DATATYPE 2
#define MPI_T_BIND_MPI_ERRHANDLER 3
#define MPI_T_BIND_MPI_FILE 4
#define MPI_T_BIND_MPI_GROUP 5
#define MPI_T_BIND_MPI_OP 6
#define MPI_T_BIND_MPI_REQUEST 7
#define MPI_T_BIND_MPI_WIN 8
#define MPI_T_BIND_MPI_MESSAGE 9
#define MPI_T_BIND_MPI_INFO 10
#define MPI_T_SCOPE_CONSTANT 0
#define MPI_T_SCOPE_READONLY 1
#define MPI_T_SCOPE_LOCAL 2
#define MPI_T_SCOPE_GROUP 3
#define MPI_T_SCOPE_GROUP_EQ 4
#define MPI_T_SCOPE_ALL 5
#define MPI_T_SCOPE_ALL_EQ 6
#define MPI_T_PVAR_CLASS_STATE 0
#define MPI_T_PVAR_CLASS_LEVEL 1
#define MPI_T_PVAR_CLASS_SIZE 2
#define MPI_T_PVAR_CLASS_PERCENTAGE 3
#define MPI_T_PVAR_CLASS_HIGHWATERMARK 4
#define MPI_T_PVAR_CLASS_LOWWATERMARK 5
#define MPI_T_PVAR_CLASS_COUNTER 6
#define MPI_T_PVAR_CLASS_AGGREGATE 7
#define MPI_T_PVAR_CLASS_TIMER 8
#define MPI_T_PVAR_CLASS_GENERIC 9
#define MPI_T_ENUM_NULL ((MPI_T_enum) 0)
#define MPI_T_CVAR_HANDLE_NULL ((MPI_T_cvar_handle) 0)
#define MPI_T_PVAR_HANDLE_NULL ((MPI_T_pvar_handle) 0)
#define MPI_T_PVAR_SESSION_NULL ((MPI_T_pvar_session) 0)
#define MPI_T_PVAR_ALL_HANDLES ((MPI_T_pvar_handle) -1)

/* Places */
#define MPI_BOTTOM ((void *) 0)
#define MPI_IN_PLACE ((void *) -1)
#define MPI_STATUS_IGNORE ((MPI_Status *) 0)
#define MPI_STATUSES_IGNORE ((MPI_Status *) 0)
#define MPI_ERRCODES_IGNORE ((int *) 0)
#define MPI_ARGV_NULL ((char **) 0)
#define MPI_ARGVS_NULL ((char ***) 0)
#define MPI_UNWEIGHTED ((int *) -3)
#define MPI_WEIGHTS_EMPTY ((int *) -4)
#define MPI_F_STATUS_IGNORE ((MPI_Fint *) 0)
#define MPI_F_STATUSES_IGNORE ((MPI_Fint *) 0)

/* Handles */
#define MPI_COMM_NULL ((MPI_Comm) 0)
#define MPI_COMM_WORLD ((MPI_Comm) 1)
#define MPI_COMM_SELF ((MPI_Comm) 2)
#define MPI_GROUP_NULL ((MPI_Group) 0)
#define MPI_GROUP_EMPTY ((MPI_Group) 1)
#define MPI_REQUEST_NULL ((MPI_Request) 0)
#define MPI_MESSAGE_NULL ((MPI_Message) 0)
#define MPI_MESSAGE_NO_PROC ((MPI_Message) 1)
#define MPI_INFO_NULL ((MPI_Info) 0)
#define MPI_INFO_ENV ((MPI_Info) 1)
#define MPI_WIN_NULL ((MPI_Win) 0)
#define MPI_FILE_NULL ((MPI_File) 0)
#define MPI_ERRHANDLER_NULL ((MPI_Errhandler) 0)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler) 1)
#define MPI_ERRORS_RETURN ((MPI_Errhandler) 2)

/* Datatypes */
#define MPI_DATATYPE_NULL ((MPI_Datatype) 0)
#define MPI_BYTE ((MPI_Datatype) 1)
#define MPI_PACKED ((MPI_Datatype) 2)
#define MPI_CHAR ((MPI_Datatype) 3)
#define MPI_SIGNED_CHAR ((MPI_Datatype) 4)
#define MPI_UNSIGNED_CHAR ((MPI_Datatype) 5)
#define MPI_SHORT ((MPI_Datatype) 6)
#define MPI_UNSIGNED_SHORT ((MPI_Datatype) 7)
#define MPI_INT ((MPI_Datatype) 8)
#define MPI_UNSIGNED ((MPI_Datatype) 9)
#define MPI_LONG ((MPI_Datatype) 10)
#define MPI_UNSIGNED_LONG ((MPI_Datatype) 11)
#define MPI_LONG_LONG_INT ((MPI_Datatype) 12)
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype) 13)
#define MPI_FLOAT ((MPI_Datatype) 14)
#define MPI_DOUBLE ((MPI_Datatype) 15)
#define MPI_LONG_DOUBLE ((MPI_Datatype) 16)
#define MPI_FLOAT_INT ((MPI_Datatype) 17)
#define MPI_DOUBLE_INT ((MPI_Datatype) 18)
#define MPI_LONG_INT ((MPI_Datatype) 19)
#define MPI_SHORT_INT ((MPI_Datatype) 20)
#define MPI_2INT ((MPI_Datatype) 21)
#define MPI_C_BOOL ((MPI_Datatype) 22)
#define MPI_C_COMPLEX ((MPI_Datatype) 23)
#define MPI_C_DOUBLE_COMPLEX ((MPI_Datatype) 24)
#define MPI_C_LONG_DOUBLE_COMPLEX ((MPI_Datatype) 25)
#define MPI_WCHAR ((MPI_Datatype) 26)
#define MPI_LONG_DOUBLE_INT ((MPI_Datatype) 27)
#define MPI_INT8_T ((MPI_Datatype) 28)
#define MPI_UINT8_T ((MPI_Datatype) 29)
#define MPI_INT16_T ((MPI_Datatype) 30)
#define MPI_UINT16_T ((MPI_Datatype) 31)
#define MPI_INT32_T ((MPI_Datatype) 32)
#define MPI_UINT32_T ((MPI_Datatype) 33)
#define MPI_INT64_T ((MPI_Datatype) 34)
#define MPI_UINT64_T ((MPI_Datatype) 35)
#define MPI_AINT ((MPI_Datatype) 36)
#define MPI_OFFSET ((MPI_Datatype) 37)
#define MPI_COUNT ((MPI_Datatype) 38)
#define MPI_CHARACTER ((MPI_Datatype) 39)
#define MPI_LOGICAL ((MPI_Datatype) 40)
#define MPI_INTEGER ((MPI_Datatype) 41)
#define MPI_REAL ((MPI_Datatype) 42)
#define MPI_DOUBLE_PRECISION ((MPI_Datatype) 43)
#define MPI_COMPLEX ((MPI_Datatype) 44)
#define MPI_DOUBLE_COMPLEX ((MPI_Datatype) 45)
#define MPI_2INTEGER ((MPI_Datatype) 46)
#define MPI_2REAL ((MPI_Datatype) 47)
#define MPI_2DOUBLE_PRECISION ((MPI_Datatype) 48)
#define MPI_INTEGER1 ((MPI_Datatype) 49)
#define MPI_INTEGER2 ((MPI_Datatype) 50)
#define MPI_INTEGER4 ((MPI_Datatype) 51)
#define MPI_INTEGER8 ((MPI_Datatype) 52)
#define MPI_REAL4 ((MPI_Datatype) 53)
#define MPI_REAL8 ((MPI_Datatype) 54)
#define MPI_REAL16 ((MPI_Datatype) 55)
#define MPI_COMPLEX8 ((MPI_Datatype) 56)
#define MPI_COMPLEX16 ((MPI_Datatype) 57)
#define MPI_COMPLEX32 ((MPI_Datatype) 58)
#define MPI_CXX_BOOL ((MPI_Datatype) 59)
#define MPI_CXX_FLOAT_COMPLEX ((MPI_Datatype) 60)
#define MPI_CXX_DOUBLE_COMPLEX ((MPI_Datatype) 61)
#define MPI_CXX_LONG_DOUBLE_COMPLEX ((MPI_Datatype) 62)
#define MPI_LB ((MPI_Datatype) 63)
#define MPI_UB ((MPI_Datatype) 64)
#define MPI_INTEGER16 ((MPI_Datatype) 65)
#define MPI_LONG_LONG MPI_LONG_LONG_INT
#define MPI_C_FLOAT_COMPLEX MPI_C_COMPLEX

/* Operations */
#define MPI_OP_NULL ((MPI_Op) 0)
#define MPI_MAX ((MPI_Op) 1)
#define MPI_MIN ((MPI_Op) 2)
#define MPI_SUM ((MPI_Op) 3)
#define MPI_PROD ((MPI_Op) 4)
#define MPI_LAND ((MPI_Op) 5)
#define MPI_BAND ((MPI_Op) 6)
#define MPI_LOR ((MPI_Op) 7)
#define MPI_BOR ((MPI_Op) 8)
#define MPI_LXOR ((MPI_Op) 9)
#define MPI_BXOR ((MPI_Op) 10)
#define MPI_MAXLOC ((MPI_Op) 11)
#define MPI_MINLOC ((MPI_Op) 12)
#define MPI_REPLACE ((MPI_Op) 13)
#define MPI_NO_OP ((MPI_Op) 14)

/* Functions of attributes */
#define MPI_NULL_COPY_FN ((MPI_Copy_function *) 0)
#define MPI_NULL_DELETE_FN ((MPI_Delete_function *) 0)
#define MPI_DUP_FN ((MPI_Copy_function *) -1)
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function *) 0)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function *) 0)
#define MPI_COMM_DUP_FN ((MPI_Comm_copy_attr_function *) -1)
#define MPI_TYPE_NULL_COPY_FN ((MPI_Type_copy_attr_function *) 0)
#define MPI_TYPE_NULL_DELETE_FN ((MPI_Type_delete_attr_function *) 0)
#define MPI_TYPE_DUP_FN ((MPI_Type_copy_attr_function *) -1)
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function *) 0)
#define MPI_WIN_NULL_DELETE_FN ((MPI_Win_delete_attr_function *) 0)
#define MPI_WIN_DUP_FN ((MPI_Win_copy_attr_function *) -1)
#define MPI_CONVERSION_FN_NULL ((MPI_Datarep_conversion_function *) 0)

#endif
