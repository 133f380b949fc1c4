/* Types of MPI's objects. A handle is a number (handles.py); 0 stands for nothing. */

#ifndef NICBED_MPI_TYPES_H
#define NICBED_MPI_TYPES_H

typedef int MPI_Comm;
typedef int MPI_Group;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Message;
typedef int MPI_Errhandler;
typedef int MPI_Info;
typedef int MPI_Win;
typedef int MPI_File;
typedef int MPI_T_enum;
typedef int MPI_T_cvar_handle;
typedef int MPI_T_pvar_handle;
typedef int MPI_T_pvar_session;

typedef int MPI_Fint;
typedef long MPI_Aint;
typedef long long MPI_Count;
typedef long long MPI_Offset;

typedef struct MPI_Status {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int nicbed_cancelled;
    long nicbed_count;
} MPI_Status;

typedef void MPI_User_function(void *invec, void *inoutvec, int *len, MPI_Datatype *datatype);
typedef void MPI_Comm_errhandler_function(MPI_Comm *comm, int *code, ...);
typedef void MPI_Win_errhandler_function(MPI_Win *win, int *code, ...);
typedef void MPI_File_errhandler_function(MPI_File *file, int *code, ...);
typedef MPI_Comm_errhandler_function MPI_Handler_function;
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef int MPI_Comm_copy_attr_function(MPI_Comm comm, int keyval, void *extra_state,
                                        void *value_in, void *value_out, int *flag);
typedef int MPI_Comm_delete_attr_function(MPI_Comm comm, int keyval, void *value,
                                          void *extra_state);
typedef int MPI_Type_copy_attr_function(MPI_Datatype datatype, int keyval, void *extra_state,
                                        void *value_in, void *value_out, int *flag);
typedef int MPI_Type_delete_attr_function(MPI_Datatype datatype, int keyval, void *value,
                                          void *extra_state);
typedef int MPI_Win_copy_attr_function(MPI_Win win, int keyval, void *extra_state,
                                       void *value_in, void *value_out, int *flag);
typedef int MPI_Win_delete_attr_function(MPI_Win win, int keyval, void *value,
                                         void *extra_state);
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;
typedef int MPI_Grequest_query_function(void *extra_state, MPI_Status *status);
typedef int MPI_Grequest_free_function(void *extra_state);
typedef int MPI_Grequest_cancel_function(void *extra_state, int complete);
typedef int MPI_Datarep_extent_function(MPI_Datatype datatype, MPI_Aint *extent,
                                        void *extra_state);
typedef int MPI_Datarep_conversion_function(void *userbuf, MPI_Datatype datatype, int count,
                                            void *filebuf, MPI_Offset position,
                                            void *extra_state);

#define MPI_Comm_c2f(comm) ((MPI_Fint) (comm))
#define MPI_Comm_f2c(comm) ((MPI_Comm) (comm))
#define MPI_Group_c2f(group) ((MPI_Fint) (group))
#define MPI_Group_f2c(group) ((MPI_Group) (group))
#define MPI_Type_c2f(datatype) ((MPI_Fint) (datatype))
#define MPI_Type_f2c(datatype) ((MPI_Datatype) (datatype))
#define MPI_Op_c2f(op) ((MPI_Fint) (op))
#define MPI_Op_f2c(op) ((MPI_Op) (op))
#define MPI_Request_c2f(request) ((MPI_Fint) (request))
#define MPI_Request_f2c(request) ((MPI_Request) (request))
#define MPI_Message_c2f(message) ((MPI_Fint) (message))
#define MPI_Message_f2c(message) ((MPI_Message) (message))
#define MPI_Errhandler_c2f(errhandler) ((MPI_Fint) (errhandler))
#define MPI_Errhandler_f2c(errhandler) ((MPI_Errhandler) (errhandler))
#define MPI_Info_c2f(info) ((MPI_Fint) (info))
#define MPI_Info_f2c(info) ((MPI_Info) (info))
#define MPI_Win_c2f(win) ((MPI_Fint) (win))
#define MPI_Win_f2c(win) ((MPI_Win) (win))
#define MPI_File_c2f(file) ((MPI_Fint) (file))
#define MPI_File_f2c(file) ((MPI_File) (file))

#define MPI_Aint_add(base, disp) ((MPI_Aint) ((char *) (base) + (disp)))
#define MPI_Aint_diff(addr1, addr2) ((MPI_Aint) ((char *) (addr1) - (char *) (addr2)))

#endif
